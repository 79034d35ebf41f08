import type { z } from 'zod';
import { deriveSalt } from '../chain/eas/eas.ts';
import { computeDistributionDigest, type DistributionOpening } from '../chain/eas/schemas.ts';
import type { Context } from '../context.ts';
import { orElse } from '../errors.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import {
  CENTRAL_SHARES,
  type CentralHalfWidths,
  computeHalfWidthsFromVariance,
  UNITS_PER_LOG_RETURN,
  widenPrice,
} from '../forecast/distribution.ts';
import { formatHorizonName, HORIZONS } from '../forecast/model.ts';
import { roundTo } from '../platform/validation.ts';
import {
  type DayDistributions,
  type DayDoc,
  type DayModel,
  type ForecastDoc,
  formatForecastId,
  fromCents,
  readQuantilesMicro,
  type StoredDistribution,
} from './forecast-doc.ts';
import type { ForecastRecord } from './forecasts.ts';
import type { ModelStore } from './model-card.ts';
import type { NewestForecast } from './projection.ts';
import { notYetMadeError } from './public-signal.ts';
import type { EXPECTED_RANGE, ForecastDistributions, PRICE_RANGE } from './schemas/forecast.ts';
import { mayReadDistributions, toMoveWithLimits } from './visibility.ts';

/** The distributions of the resolved ones of some forecasts, in their order. Those of all others are left out for every caller. */
export async function openRevealedDistributions(context: Context, docs: readonly ForecastDoc[]): Promise<ForecastDistributions[]> {
  const revealed = docs.filter(mayReadDistributions);
  if (revealed.length === 0) return [];
  const [wanted, horizons] = [revealed.map(({ day }) => day), [...new Set(revealed.map(({ horizonDays }) => horizonDays))]];
  const days = await listCommittedDays(context.record, wanted, horizons);
  return revealed.map((doc) => {
    const { metadata, models = [], distributions } = days.get(doc.day)!;
    const stored = distributions?.[doc.horizonDays] ?? [];
    const own = context.record.known.findScores(doc);
    return {
      predictionId: doc._id,
      date: formatDay(doc.day),
      horizon: formatHorizonName(doc.horizonDays),
      sequence: doc.sequence,
      attestationUid: doc.attestation!.uid,
      resolutionUid: doc.reveal!.uid,
      metadata: metadata.json,
      openings: openDistributions(context.saltSecret, doc._id, stored).map(({ modelVersion, salt, quantilesMicro }, index) => {
        const { name } = stored[index]!;
        const { role } = models.find((model) => model.name === name)!;
        return { name, role, modelVersion, salt, quantilesMicro: [...quantilesMicro] };
      }),
      missing: models.flatMap(({ name, role, missingBecause: reason }) => (reason === null ? [] : [{ name, role, reason }])),
      realised: own?.realised ?? null,
      scores: stored.flatMap(({ name, modelVersion }) => {
        const scored = own?.models[name];
        return scored === undefined ? [] : [{ name, modelVersion, ...scored }];
      }),
      move: own?.move ?? null,
      comparisons: own?.comparisons ?? [],
    };
  });
}

/** Metadata and distributions of days, by day. */
async function listCommittedDays({ days }: Pick<ForecastRecord, 'days'>, wanted: readonly Day[], horizons: readonly number[]) {
  const ids = [...new Set(wanted)].map(formatDay);
  const distributions = Object.fromEntries(horizons.map((horizonDays) => [`distributions.${horizonDays}`, 1]));
  const projection = { day: 1, models: 1, ...distributions, 'metadata.json': 1 };
  const docs = await days.find({ _id: { $in: ids } }, { projection }).toArray();
  return new Map(docs.map((doc): [Day, Pick<DayDoc, 'metadata' | 'models' | 'distributions'>] => [doc.day, doc]));
}

/** Salt and quantiles of each version's distribution of one forecast, the champion's first. */
export function openDistributions(saltSecret: string, predictionId: string, stored: readonly StoredDistribution[]): DistributionOpening[] {
  return stored.map((distribution) => ({
    predictionId,
    modelVersion: distribution.modelVersion,
    salt: deriveSalt(saltSecret, `${predictionId} ${distribution.name}`),
    quantilesMicro: readQuantilesMicro(distribution),
  }));
}

/** The models of a day as its public metadata lists them, each with the digests of its distributions by horizon. */
export function describeCommittedModels(saltSecret: string, day: Day, models: readonly DayModel[], distributions: DayDistributions) {
  return models.map(({ name, role, modelVersion, missingBecause }) => {
    const base = { name, role, modelVersion };
    if (modelVersion === null) return { ...base, missingBecause, distributions: null };
    const digests = Object.entries(distributions).map(([horizonDays, stored]) => {
      const own = stored.filter((distribution) => distribution.name === name);
      const [opening] = openDistributions(saltSecret, formatForecastId(day, Number(horizonDays)), own);
      return [formatHorizonName(Number(horizonDays)), computeDistributionDigest(opening!)] as const;
    });
    return { ...base, distributions: Object.fromEntries(digests) };
  });
}

const SHOWN_SHARE = 0.8;

/** The central 80 % of a forecast's price at its end; null for a day whose widths are neither stored nor known from its model. */
export async function readPriceRange(models: ModelStore, newest: NewestForecast): Promise<z.input<typeof PRICE_RANGE>> {
  const ranges = await readCentralRanges(models, newest).catch(orElse('NOT_FOUND', null));
  const found = ranges?.find(({ share }) => share === SHOWN_SHARE);
  return found === undefined ? null : { share: found.share, low: found.low, high: found.high };
}

export type ExpectedRange = z.input<typeof EXPECTED_RANGE>;

/**
 * Ranges of the price around that at signal time, the same for every caller: they are made of the day's widths and price, and of no value
 * that is committed. @throws OracleError STEP_WAITING before the first forecast
 */
export async function getExpectedRange(context: Context, horizonDays: number): Promise<ExpectedRange> {
  return (await readRange(context, horizonDays)).range;
}

/** The same with the ranges of every horizon of its day. @throws OracleError STEP_WAITING before the first forecast */
export async function getExpectedRanges(context: Context, horizonDays: number): Promise<ExpectedRange> {
  const [{ range }, found] = await Promise.all([
    readRange(context, horizonDays),
    Promise.all(HORIZONS.map((days) => readRange(context, days))),
  ]);
  const ofDay = found.filter((one) => one.range.date === range.date);
  return {
    ...range,
    horizons: ofDay.map(({ range: { horizon, ranges, moveSize, pBig, moveVerdict, resolvesAt }, attestedAt }) => {
      return { horizon, ranges, moveSize, pBig, moveVerdict, resolvesAt, attestedAt };
    }),
  };
}

async function readRange(context: Context, horizonDays: number): Promise<{ range: ExpectedRange; attestedAt: string | null }> {
  const { moveVerdict } = await context.figures.getHorizon(horizonDays);
  const newest = context.record.known.findNewest(horizonDays);
  if (newest === null) throw notYetMadeError('forecast');
  const { forecast, figures } = newest;
  const ranges = await readCentralRanges(context.models, newest);
  if (figures.price === null || ranges === null) throw notYetMadeError('forecast');
  const range: ExpectedRange = {
    success: true,
    date: formatDay(forecast.day),
    horizon: formatHorizonName(horizonDays),
    modelVersion: forecast.modelVersion,
    btcPrice: fromCents(figures.price.cents),
    ranges,
    ...toMoveWithLimits(forecast),
    moveVerdict,
    windowOpensAt: forecast.windowOpensAt.toISOString(),
    resolvesAt: forecast.resolvesAt.toISOString(),
    timestamp: forecast.signalAt.toISOString(),
    replayed: forecast.replayed,
    source: context.market.source,
  };
  return { range, attestedAt: forecast.attestation?.at.toISOString() ?? null };
}

/** Null without price or widths. */
async function readCentralRanges(models: ModelStore, newest: NewestForecast): Promise<ExpectedRange['ranges'] | null> {
  const halfWidths = await readHalfWidths(models, newest);
  const { price } = newest.figures;
  if (price === null || halfWidths === null) return null;
  return [halfWidths.central50, halfWidths.central80, halfWidths.central90].map((halfWidth, index) => {
    const { low, high } = widenPrice(fromCents(price.cents), halfWidth);
    return { share: CENTRAL_SHARES[index], low: roundTo(low, 2), high: roundTo(high, 2), halfWidth: halfWidth / UNITS_PER_LOG_RETURN };
  });
}

/** The stored widths; of days from before they were stored, when all forecasts were by `m0-d1`, those of its variances. */
async function readHalfWidths(models: ModelStore, { forecast, figures }: NewestForecast): Promise<CentralHalfWidths | null> {
  const { horizonDays, modelVersion } = forecast;
  const stored = figures.halfWidths?.[horizonDays];
  if (stored !== undefined) return stored;
  if (figures.variance === null || modelVersion === null) return null;
  const fit = (await models.get(modelVersion)).horizons.find((one) => one.horizonDays === horizonDays);
  return fit === undefined ? null : computeHalfWidthsFromVariance(figures.variance, fit);
}
