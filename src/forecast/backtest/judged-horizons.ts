import type { HorizonDays } from '../model.ts';

/** Horizons that are sold; the one-day forecast is for the scorecard only. */
export const JUDGED_HORIZONS = [2, 3, 7] as const satisfies readonly HorizonDays[];
