import { z } from 'zod';
import { HORIZONS, type HorizonName, horizonName } from '../src/forecast/model.ts';

/** Horizons that a forecast can be asked for (interface, section 4). */
const FORECAST_HORIZONS = ['2d', '3d', '7d'] as const satisfies HorizonName[];

/** Horizons that the record has. */
export const RECORD_HORIZONS: readonly HorizonName[] = HORIZONS.map(horizonName);

export const forecastHorizon = z
  .enum(FORECAST_HORIZONS, { error: `must be one of ${FORECAST_HORIZONS.join(', ')}` })
  .default('7d')
  .describe('Days from the opening of the outcome window to its end');

/** A day that forecasts were made on. */
export const DATE_INPUT = z.iso.date('must be a date of the form YYYY-MM-DD');

export function daysOf(horizon: HorizonName): number {
  return Number.parseInt(horizon, 10);
}
