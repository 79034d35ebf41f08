import { zeroHash } from 'viem';
import { isOracleError, OracleError } from '../../errors.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import { type BaseRates, createBaseRates } from '../../forecast/fit.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import type { ModelName } from '../../forecast/models.ts';
import type { ForecastValues } from '../../forecast/signal.ts';
import type { DayInputs, InputProvenance as MarketInputSource } from '../../market/inputs.ts';
import type { MarketContext } from '../../market/market.ts';
import { describeCommittedModels } from '../../record/distributions.ts';
import {
  buildExpectedPrediction,
  buildMetadata,
  type CommittedValues,
  type DayDistributions,
  type DayDoc,
  type DayModel,
  type InputSource,
  type MarketFigures,
  storeDistribution,
  toCents,
} from '../../record/forecast-doc.ts';
import type { NewDay } from '../../record/forecasts.ts';
import {
  type Forecaster,
  getStepDueMs,
  getWindowOpensMs,
  isStepLate,
  type PipelineContext,
  requireStepDue,
  requireWindowOpened,
  type StepContext,
} from '../forecaster.ts';

/** Once the window has opened, the day is recorded as missed. @throws OracleError PRICE_UNAVAILABLE without a fresh price */
export async function runSignalStep(deps: PipelineContext, day: Day, context: StepContext): Promise<DayDoc> {
  const known = await deps.record.completeDay(day);
  if (known !== null) return known;
  await requireCovered(deps, day);
  await requireSignalDue(day, context);
  const stillClosed = await context.time.proveUnreached(getWindowOpensMs(day));
  if (stillClosed === null) return saveMissedDay(deps, day, context);
  const inputs = await deps.market.inputs(day, context.now.getTime());
  const forecast = await deps.forecaster.forecast(inputs, context.now);
  const { models, distributions } = collectDistributions(forecast);
  const baseRates = createBaseRates({ firstDay: inputs.frame.firstDay, closes: inputs.frame.close });
  const committed = describeCommittedModels(deps.saltSecret, day, models, distributions);
  const forecastDay: NewDay = {
    ...toCircumstances(day, context),
    missedBecause: null,
    price: { cents: toCents(inputs.spot.priceUsd), observedAt: new Date(inputs.spot.observedAtMs), source: inputs.spot.source },
    context: toMarketFigures(await deps.market.context(context.now.getTime())),
    modelVersion: forecast.model._id,
    regime: forecast.regime,
    regimeFactors: forecast.factors,
    categories: forecast.forecasts[0].categories,
    variance: forecast.variance,
    halfWidths: Object.fromEntries(forecast.forecasts.map(({ horizonDays, halfWidths }) => [horizonDays, halfWidths])),
    moves: Object.fromEntries(forecast.moves),
    inputsDigest: inputs.digest,
    models,
    distributions,
    metadata: buildMetadata(buildPublicMetadata(deps, inputs, forecast, committed)),
    forecasts: Object.fromEntries(
      forecast.forecasts.map((values) => [values.horizonDays, toCommittedValues(values, baseRates(day, values.horizonDays))]),
    ),
  };
  return deps.record.saveDay(forecastDay, stillClosed);
}

function toMarketFigures({ fearGreed, fearGreedLabel, etfFlows7dUsd, etfFlowThroughDay }: MarketContext): MarketFigures {
  return { fearGreed, fearGreedLabel, etfFlows7dUsd, etfFlowThroughDay };
}

/** The attestation dates the forecast, so that an unreachable endpoint delays only that. A stale newest block still blocks the step. */
async function requireSignalDue(day: Day, context: StepContext): Promise<void> {
  try {
    await requireStepDue('signal', day, context);
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
  }
}

function toCircumstances(day: Day, { now, replayed }: StepContext): Pick<NewDay, 'day' | 'signalAt' | 'replayed' | 'late'> {
  return { day, signalAt: now, replayed, late: isStepLate('signal', day, now) };
}

/** The record ends with the data: a day beyond it is not missed. */
async function requireCovered({ market }: PipelineContext, day: Day): Promise<void> {
  const { lastDay } = await market.coverage();
  if (lastDay === null || day <= lastDay) return;
  throw new OracleError('PRICE_UNAVAILABLE', `The market data (${market.source}) ends on ${formatDay(lastDay)}`);
}

async function saveMissedDay(deps: PipelineContext, day: Day, context: StepContext): Promise<DayDoc> {
  if ((await deps.record.findGenesisDay()) === null) {
    throw new OracleError('STEP_WAITING', `${formatDay(day)} is over, and a record begins with a forecast, not with a missed day`);
  }
  const opened = await requireWindowOpened(day, context);
  const reason = (await deps.runs.findLastReason('signal', day)) ?? 'the service was not running';
  const stored = await deps.record.saveDay(buildMissedDay(day, context, reason), opened);
  deps.log.warn({ day: formatDay(day), reason }, 'day missed');
  return stored;
}

function buildMissedDay(day: Day, context: StepContext, reason: string): NewDay {
  const missedBecause = `no forecast before the window opened: ${reason}`;
  return {
    ...toCircumstances(day, context),
    missedBecause,
    price: null,
    context: null,
    modelVersion: null,
    regime: null,
    regimeFactors: null,
    categories: null,
    variance: null,
    halfWidths: null,
    moves: null,
    inputsDigest: zeroHash,
    metadata: buildMetadata({ date: formatDay(day), missed: true, reason }),
    forecasts: {},
  };
}

/** Public at once: how the forecast was made, without its values or those of its inputs. */
function buildPublicMetadata(deps: PipelineContext, inputs: DayInputs, { model, regime, moves }: DayForecast, models: object[]): object {
  return {
    date: formatDay(inputs.day),
    modelVersion: model._id,
    modelDigest: model.trainingDigest,
    trials: model.trials,
    regime,
    inputsDigest: inputs.digest,
    rangesDigest: inputs.rangesDigest,
    models,
    moves: Object.fromEntries([...moves].map(([horizonDays, move]) => [formatHorizonName(horizonDays), move])),
    feed: deps.market.source,
    inputs: inputs.sources.map(toInputSource),
  };
}

type DayForecast = Awaited<ReturnType<Forecaster['forecast']>>;

/** The distributions of champion and challengers by horizon; a challenger without one is named with the reason. */
function collectDistributions({ name, model, forecasts, challengers }: DayForecast) {
  const models: DayModel[] = [{ name, role: 'champion', modelVersion: model._id, missingBecause: null }];
  const distributions: DayDistributions = {};
  const add = (of: ModelName, values: readonly ForecastValues[]) => {
    for (const { horizonDays, modelVersion, distribution } of values) {
      distributions[horizonDays] ??= [];
      distributions[horizonDays].push(storeDistribution(of, modelVersion, distribution));
    }
  };
  add(name, forecasts);
  for (const challenger of challengers) {
    const isMissing = 'missing' in challenger;
    const modelVersion = isMissing ? null : challenger.model._id;
    models.push({ name: challenger.name, role: 'challenger', modelVersion, missingBecause: isMissing ? challenger.missing : null });
    if (!isMissing) add(challenger.name, challenger.forecasts);
  }
  return { models, distributions };
}

function toInputSource({ series, source, observedDay, availableAtMs, masked }: MarketInputSource): InputSource {
  return {
    series,
    source,
    observedDay: masked || observedDay === null ? null : formatDay(observedDay),
    availableAt: masked || availableAtMs === null ? null : new Date(availableAtMs).toISOString(),
  };
}

function toCommittedValues(values: ForecastValues, { climatology4y }: ReturnType<BaseRates>): CommittedValues {
  return {
    signal: values.signal,
    direction: values.direction,
    confidence: values.confidence,
    confidenceBps: toBps(values.confidence),
    pUp: values.pUp,
    pUpBps: toBps(values.pUp),
    btcPriceCents: toCents(values.price),
    climatology: values.climatology,
    climatology4y,
    threshold: values.threshold,
    priceQuantiles: Object.fromEntries(values.quantiles.map(({ level, price }) => [formatQuantileKey(level), price])),
    distribution: { scale: values.distribution.scale, shift: values.distribution.shift },
  };
}

/** `p05`, `p50`, `p90`: MongoDB keys must not hold a dot. */
function formatQuantileKey(level: number): string {
  return `p${String(Math.round(level * 100)).padStart(2, '0')}`;
}

function toBps(probability: number): number {
  return Math.round(probability * 10_000);
}

/** One transaction per day, oldest first; a rerun finds it by its key. @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE */
export async function runAttestStep(deps: PipelineContext, context: StepContext): Promise<Day[]> {
  const unattested = await deps.record.listUnattestedDays();
  // A replay makes the next day's forecast before the outcomes of a day are complete.
  const days = context.replayed ? unattested.filter((day) => getStepDueMs('attest', day) <= context.now.getTime()) : unattested;
  for (const day of days) await attestDay(deps, day, context);
  return days;
}

async function attestDay({ record, attester }: PipelineContext, day: Day, context: StepContext): Promise<void> {
  const due = await requireStepDue('attest', day, context);
  const docs = await record.linkToPreviousDay(day);
  const references = await attester.attestPredictions(`attest:${formatDay(day)}`, docs.map(buildExpectedPrediction), due);
  await record.markAttested(docs, references);
}
