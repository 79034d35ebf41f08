import type { z } from 'zod';
import {
  CENTRAL_SHARES,
  type CentralHalfWidths,
  computeHalfWidthsFromVariance,
  UNITS_PER_LOG_RETURN,
  widenPrice,
} from '../../forecast/central-range.ts';
import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import type { Market } from '../../market/market.ts';
import { roundTo } from '../../platform/round.ts';
import { fromCents } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { ModelStore } from '../model-store.ts';
import type { NewestForecast } from '../newest-forecast.ts';
import { notYetMadeError } from '../oracle/made-forecast.ts';
import type { EXPECTED_RANGE } from '../schemas/expected-range.ts';

export interface ExpectedRangeDeps {
  record: Pick<ForecastRecord, 'findNewest'>;
  models: Pick<ModelStore, 'get'>;
  market: Pick<Market, 'source'>;
}

export type ExpectedRange = z.input<typeof EXPECTED_RANGE>;

/**
 * Ranges of the price around that at signal time, the same for every caller: they are made of the day's widths and price, and of no value
 * that is committed. @throws OracleError STEP_WAITING before the first forecast
 */
export async function getExpectedRange(deps: ExpectedRangeDeps, horizonDays: number): Promise<ExpectedRange> {
  return (await readRange(deps, horizonDays)).range;
}

/** The same with the ranges of every horizon of its day. @throws OracleError STEP_WAITING before the first forecast */
export async function getExpectedRanges(deps: ExpectedRangeDeps, horizonDays: number): Promise<ExpectedRange> {
  const [{ range }, found] = await Promise.all([readRange(deps, horizonDays), Promise.all(HORIZONS.map((days) => readRange(deps, days)))]);
  const ofDay = found.filter((one) => one.range.date === range.date);
  return {
    ...range,
    horizons: ofDay.map(({ range: { horizon, ranges, resolvesAt }, attestedAt }) => ({ horizon, ranges, resolvesAt, attestedAt })),
  };
}

async function readRange(deps: ExpectedRangeDeps, horizonDays: number): Promise<{ range: ExpectedRange; attestedAt: string | null }> {
  const newest = await deps.record.findNewest(horizonDays);
  if (newest === null) throw notYetMadeError('forecast');
  const { forecast, figures } = newest;
  const halfWidths = await readHalfWidths(deps.models, newest);
  if (figures.price === null || halfWidths === null) throw notYetMadeError('forecast');
  const btcPrice = fromCents(figures.price.cents);
  const range: ExpectedRange = {
    success: true,
    date: formatDay(forecast.day),
    horizon: formatHorizonName(horizonDays),
    modelVersion: forecast.modelVersion,
    btcPrice,
    ranges: listRanges(btcPrice, halfWidths),
    windowOpensAt: forecast.windowOpensAt.toISOString(),
    resolvesAt: forecast.resolvesAt.toISOString(),
    timestamp: forecast.signalAt.toISOString(),
    replayed: forecast.replayed,
    source: deps.market.source,
  };
  return { range, attestedAt: forecast.attestation?.at.toISOString() ?? null };
}

/** The stored widths; of days from before they were stored, when all forecasts were by `m0-d1`, those of its variances. */
async function readHalfWidths(
  models: ExpectedRangeDeps['models'],
  { forecast, figures }: NewestForecast,
): Promise<CentralHalfWidths | null> {
  const { horizonDays, modelVersion } = forecast;
  const stored = figures.halfWidths?.[horizonDays];
  if (stored !== undefined) return stored;
  if (figures.variance === null || modelVersion === null) return null;
  const fit = (await models.get(modelVersion)).horizons.find((one) => one.horizonDays === horizonDays);
  return fit === undefined ? null : computeHalfWidthsFromVariance(figures.variance, fit);
}

function listRanges(price: number, { central50, central80, central90 }: CentralHalfWidths): ExpectedRange['ranges'] {
  return [central50, central80, central90].map((halfWidth, index) => {
    const { low, high } = widenPrice(price, halfWidth);
    return { share: CENTRAL_SHARES[index], low: roundTo(low, 2), high: roundTo(high, 2), halfWidth: halfWidth / UNITS_PER_LOG_RETURN };
  });
}
