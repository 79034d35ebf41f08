import { z } from 'zod';
import type { HorizonName } from '../src/forecast/model.ts';

/** Horizons that a forecast can be asked for (interface, section 4). */
const FORECAST_HORIZONS = ['2d', '3d', '7d'] as const satisfies HorizonName[];

export const forecastHorizon = z
  .enum(FORECAST_HORIZONS, { error: `must be one of ${FORECAST_HORIZONS.join(', ')}` })
  .default('7d')
  .describe('Days from the opening of the outcome window to its end');

export function daysOf(horizon: HorizonName): number {
  return Number.parseInt(horizon, 10);
}
