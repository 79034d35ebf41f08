import { DAY_MS } from '../../forecast/day.ts';
import { buildDistribution, computeScale, probabilityAbove } from '../../forecast/distribution.ts';
import { HORIZONS, type HorizonDays } from '../../forecast/model.ts';
import type { DayDoc } from '../day-doc.ts';
import { fromCents } from '../forecast-doc.ts';
import type { ModelDoc } from '../model-store.ts';

export interface StrikeQuestion {
  day: DayDoc;
  model: ModelDoc;
  strikeUsd: number;
  expiresAt: Date;
  at: Date;
}

/** The horizon nearest to the time to expiry: its residuals and P(up) price the strike. */
export function findNearestHorizon({ expiresAt, at }: Pick<StrikeQuestion, 'expiresAt' | 'at'>): {
  days: number;
  horizonDays: HorizonDays;
} {
  const days = (expiresAt.getTime() - at.getTime()) / DAY_MS;
  const horizonDays = HORIZONS.reduce((best, horizon) => (Math.abs(horizon - days) < Math.abs(best - days) ? horizon : best));
  return { days, horizonDays };
}

/** P(price above the strike) at expiry, from the residual quantiles of the nearest horizon; the time to expiry may be fractional. */
export function computeStrikeProbability({ day, model, strikeUsd, expiresAt, at }: StrikeQuestion): number {
  const { v94, v99 } = day.variance!;
  const { days, horizonDays } = findNearestHorizon({ expiresAt, at });
  const { residualQuantiles } = model.horizons.find((fit) => fit.horizonDays === horizonDays)!;
  const { pUp } = day.forecasts[horizonDays];
  const distribution = buildDistribution({ residualQuantiles, scale: computeScale(v94, v99, days), pUp });
  return probabilityAbove({ distribution, spot: fromCents(day.price!.cents), strike: strikeUsd });
}
