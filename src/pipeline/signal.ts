import { zeroHash } from 'viem';
import { isOracleError, OracleError } from '../errors.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import type { ForecastValues } from '../forecast/signal.ts';
import type { DayInputs, InputSource as MarketInputSource } from '../market/inputs.ts';
import type { DayDoc, InputSource } from '../record/day-record.ts';
import { type CommittedValues, toCents } from '../record/forecast.ts';
import { describeMetadata } from '../record/metadata.ts';
import type { NewDay } from '../record/record.ts';
import type { DayForecast } from './forecaster.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { isLate, reachDue, reachWindow, windowOpensAt } from './times.ts';

/**
 * Forecasts a day, or finds its forecasts. Once the window has opened nothing is forecast any more: the day enters the record as
 * missed, so that the gap shows.
 * @throws OracleError PRICE_UNAVAILABLE while there is no fresh price, and as `TrustedTime.reach`; the step waits.
 */
export async function signalStep(parts: PipelineParts, day: Day, context: StepContext): Promise<DayDoc> {
  const known = await parts.record.completeDay(day);
  if (known !== null) return known;
  await requireCovered(parts, day);
  await requireDue(day, context);
  const stillClosed = await context.time.precede(windowOpensAt(day));
  if (stillClosed === null) return saveMissed(parts, day, context);
  const inputs = await parts.market.inputs(day, context.now.getTime());
  const forecast = await parts.forecaster.forecast(inputs, context.now);
  const market = await parts.market.context(context.now.getTime());
  const forecastDay: NewDay = {
    ...circumstances(day, context),
    missedBecause: null,
    price: { cents: toCents(inputs.spot.priceUsd), observedAt: new Date(inputs.spot.observedAtMs), source: inputs.spot.source },
    context: { fearGreed: market.fearGreed, fearGreedLabel: market.fearGreedLabel, etfFlows7dUsd: market.etfFlows7dUsd },
    modelVersion: forecast.model._id,
    regime: forecast.regime,
    regimeFactors: forecast.factors,
    categories: forecast.forecasts[0].categories,
    variance: forecast.variance,
    inputsDigest: inputs.digest,
    metadata: describeMetadata(publicPart(parts, inputs, forecast)),
    forecasts: Object.fromEntries(forecast.forecasts.map((values) => [values.horizonDays, committedValues(values)])),
  };
  return parts.record.saveDay(forecastDay, stillClosed);
}

/** The attestation dates a forecast: an endpoint that does not answer delays that only. One whose newest block is too old does. */
async function requireDue(day: Day, context: StepContext): Promise<void> {
  try {
    await reachDue('signal', day, context);
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
  }
}

function circumstances(day: Day, { now, replayed }: StepContext): Pick<NewDay, 'day' | 'signalAt' | 'replayed' | 'late'> {
  return { day, signalAt: now, replayed, late: isLate('signal', day, now) };
}

/** Where the data ends the record ends too: a day beyond it is not missed, it cannot be had. */
async function requireCovered({ market }: PipelineParts, day: Day): Promise<void> {
  const { lastDay } = await market.coverage();
  if (lastDay === null || day <= lastDay) return;
  throw new OracleError('PRICE_UNAVAILABLE', `The market data (${market.source}) ends on ${formatDay(lastDay)}`);
}

async function saveMissed(parts: PipelineParts, day: Day, context: StepContext): Promise<DayDoc> {
  if ((await parts.record.genesis()) === null) {
    throw new OracleError('STEP_WAITING', `${formatDay(day)} is over, and a record begins with a forecast, not with a missed day`);
  }
  const opened = await reachWindow(day, context);
  const reason = (await parts.runs.lastReason('signal', day)) ?? 'the service was not running';
  const stored = await parts.record.saveDay(missedDay(day, context, reason), opened);
  parts.log.warn({ day: formatDay(day), reason }, 'day missed');
  return stored;
}

function missedDay(day: Day, context: StepContext, reason: string): NewDay {
  const missedBecause = `no forecast before the window opened: ${reason}`;
  return {
    ...circumstances(day, context),
    missedBecause,
    price: null,
    context: null,
    modelVersion: null,
    regime: null,
    regimeFactors: null,
    categories: null,
    variance: null,
    inputsDigest: zeroHash,
    metadata: describeMetadata({ date: formatDay(day), missed: true, reason }),
    forecasts: {},
  };
}

/** What anybody may know at once: how the forecast was made, not what it says nor the values it was made from. */
function publicPart(parts: PipelineParts, inputs: DayInputs, { model, regime }: DayForecast): object {
  return {
    date: formatDay(inputs.day),
    modelVersion: model._id,
    modelDigest: model.trainingDigest,
    trials: model.trials,
    regime,
    inputsDigest: inputs.digest,
    feed: parts.market.source,
    inputs: inputs.sources.map(publicSource),
  };
}

function publicSource({ series, source, observedDay, availableAtMs, masked }: MarketInputSource): InputSource {
  return {
    series,
    source,
    observedDay: masked || observedDay === null ? null : formatDay(observedDay),
    availableAt: masked || availableAtMs === null ? null : new Date(availableAtMs).toISOString(),
  };
}

function committedValues(values: ForecastValues): CommittedValues {
  return {
    signal: values.signal,
    direction: values.direction,
    confidence: values.confidence,
    confidenceBps: toBps(values.confidence),
    pUp: values.pUp,
    pUpBps: toBps(values.pUp),
    btcPriceCents: toCents(values.price),
    climatology: values.climatology,
    threshold: values.threshold,
    priceQuantiles: Object.fromEntries(values.quantiles.map(({ level, price }) => [quantileKey(level), price])),
    distribution: { scale: values.distribution.scale, shift: values.distribution.shift },
  };
}

/** `p05`, `p50`, `p90`: a key that a document store takes. */
function quantileKey(level: number): string {
  return `p${String(Math.round(level * 100)).padStart(2, '0')}`;
}

function toBps(probability: number): number {
  return Math.round(probability * 10_000);
}
