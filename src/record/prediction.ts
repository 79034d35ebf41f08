import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { DIRECTION_CODES, EAS_SCHEMAS, getSchemaUid, OUTCOME_CODES, type SchemaName, SIGNAL_CODES } from '../chain/eas/schemas.ts';
import type { Context } from '../context.ts';
import { DAY_MS, formatDay, formatDayOrNull, toDay } from '../forecast/day.ts';
import { formatHorizonName, type HorizonModel } from '../forecast/model.ts';
import { getModelName } from '../forecast/models.ts';
import { toPublishedSummary } from '../forecast/record-statistics.ts';
import { REGIME_NAMES, REGIMES } from '../forecast/regime.ts';
import { DIRECTION_EVIDENCE } from '../forecast/signal.ts';
import { roundTo } from '../platform/validation.ts';
import { readPriceRange } from './distributions.ts';
import type { HorizonFigures } from './figures.ts';
import { buildOpening, type ForecastDoc, fromCents } from './forecast-doc.ts';
import { getCurrentRegime, listPricedStrikes } from './market.ts';
import { type ModelDoc, toNumberByScore } from './model-card.ts';
import type { KnownDay, RecordProjection } from './projection.ts';
import {
  computeFreshness,
  loadOrNoteMissing,
  type MadeForecast,
  type MissingPart,
  notYetMadeError,
  requireMade,
  requireReadable,
} from './public-signal.ts';
import type { PREDICTION, PUBLIC_PREDICTION } from './schemas/signal.ts';
import { computeForecastWinRate } from './scorecard.ts';
import { toCommittedProbabilities, toMoveWithLimits, toVisibleStatus, viewForecast } from './visibility.ts';

/** What is public of the newest forecast of a horizon, in the view of the caller. @throws OracleError STEP_WAITING before the first forecast */
export async function readPublicPrediction(context: Context, horizonDays: number, caller: Caller): Promise<PublicPrediction> {
  const { record, viewFor, market } = context;
  const figures = await context.figures.getHorizon(horizonDays);
  const newest = record.known.findNewest(horizonDays);
  if (newest === null) throw notYetMadeError('forecast');
  const { price, context: inputs } = newest.figures;
  const { signal, regime, modelVersion, ...view } = viewForecast(newest.forecast, viewFor(caller));
  if (price === null || signal === null || regime === null || modelVersion === null) throw notYetMadeError('forecast');
  return {
    signal,
    direction: view.direction,
    confidence: view.confidence,
    pUp: view.pUp,
    directionEvidence: 'none',
    directionNote: DIRECTION_EVIDENCE,
    revealedCalls: figures.revealedCalls,
    btcPrice: fromCents(price.cents),
    fearGreed: inputs?.fearGreed ?? null,
    fearGreedLabel: inputs?.fearGreedLabel ?? null,
    etfFlows7d: inputs?.etfFlows7dUsd ?? null,
    etfFlows7dThrough: formatDayOrNull(inputs?.etfFlowThroughDay ?? null),
    regime,
    modelVersion,
    timestamp: view.timestamp,
    horizon: view.horizon,
    date: view.date,
    predictionId: view.predictionId,
    status: view.status,
    windowOpensAt: view.windowOpensAt,
    resolvesAt: view.resolvesAt,
    attestationUid: newest.forecast.attestation?.uid ?? null,
    skill: toSkill(figures),
    range: await readPriceRange(context.models, newest),
    ...toMoveWithLimits(newest.forecast),
    moveVerdict: figures.moveVerdict,
    replayed: view.replayed,
    source: market.source,
  };
}

export type Prediction = z.input<typeof PREDICTION>;
export type PublicPrediction = z.input<typeof PUBLIC_PREDICTION>;

/** The verdict on the horizon's whole record, so that a client does not read a confidence as proven skill. */
function toSkill({ summary: { verdict, alwaysUpAccuracy }, winRate }: HorizonFigures) {
  const { n: scored, effectiveN, independent, accuracy, interval95 } = winRate;
  return { verdict, scored, effectiveN, independent, accuracy, interval95, alwaysUpAccuracy };
}

/** The newest forecast of a horizon with its proof. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function readPrediction(context: Context, horizonDays: number, caller: Caller): Promise<Prediction> {
  return (await readHorizonRecord(context, horizonDays, caller)).signal;
}

/** The same with all its evidence; unavailable parts are null and listed in `missing`. */
export async function readPremiumPrediction(context: Context, horizonDays: number, caller: Caller): Promise<Prediction> {
  const now = context.now();
  const { newest, figures, signal, day, model, strikes, missing } = await readHorizonRecord(context, horizonDays, caller);
  const [regimeDetail, details] = await Promise.all([
    loadOrNoteMissing(missing, 'regimeDetail', () => getCurrentRegime(context, now)),
    context.figures.getDetails(horizonDays),
  ]);
  const recent = readRecentAccuracy(context.record.known, { horizonDays, days: 30, now });
  const { accuracy: last30d, ...accuracy } = recent;
  const { longestWinStreak, ...summary } = figures.summary;
  return {
    ...signal,
    ...toPremiumContext(day, missing),
    accuracy: { last30d: last30d ?? 0, ...accuracy },
    categories: day.categories,
    thresholds: describeThresholds(newest),
    regimeDetail,
    quantiles: toQuantiles(newest),
    strikes,
    predictionMarket: context.crowd.compareWagers(now),
    model: model && buildModelDetails(model, newest),
    scorecard: {
      horizon: signal.horizon,
      summary: toPublishedSummary(summary),
      ...details,
      marketSkill: context.crowd.getMarketSkill(now),
    },
    missing,
  };
}

function toPremiumContext({ context: inputs }: KnownDay, missing: MissingPart[]) {
  const fearGreed = inputs?.fearGreed ?? null;
  const etfFlows7d = inputs?.etfFlows7dUsd ?? null;
  const reason = 'no recent enough value was known at signal time';
  if (fearGreed === null) missing.push({ part: 'marketContext.fearGreed', reason });
  if (etfFlows7d === null) missing.push({ part: 'marketContext.etfFlows7d', reason });
  return {
    marketContext: { fearGreed, etfFlows7d, etfFlows7dThrough: formatDayOrNull(inputs?.etfFlowThroughDay ?? null) },
  };
}

function toQuantiles({ values: { priceQuantiles } }: MadeForecast): { level: number; price: number }[] {
  return Object.entries(priceQuantiles)
    .map(([key, price]) => ({ level: Number(key.slice(1)) / 100, price: roundTo(price, 2) }))
    .sort((a, b) => a.level - b.level);
}

function buildModelDetails({ horizons, trainingDigest, trials }: ModelDoc, { horizonDays, values }: MadeForecast) {
  const fit = horizons.find((candidate) => candidate.horizonDays === horizonDays) as HorizonModel;
  const [intercept, ...slopes] = fit.beta;
  return {
    version: fit.modelVersion,
    method: getModelName(fit.modelVersion),
    trainFrom: formatDay(fit.trainFrom),
    trainTo: formatDay(fit.trainTo),
    trainingDays: fit.nTrain,
    baseRate: fit.baseRate,
    climatology: values.climatology,
    coefficients: { intercept, ...toNumberByScore(slopes) },
    inputMeans: toNumberByScore(fit.meanX),
    calibration: { intercept: fit.calA, slope: fit.calB },
    trainingDigest,
    trials,
  };
}

/** @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
async function readHorizonRecord(context: Context, horizonDays: number, caller: Caller) {
  const { record, market } = context;
  const [figures, { lastDay: lastCovered }] = await Promise.all([context.figures.getHorizon(horizonDays), market.coverage()]);
  const { known } = record;
  const found = known.findNewest(horizonDays);
  if (found === null) throw notYetMadeError('forecast');
  const newest = requireMade(found.forecast);
  const options = context.viewFor(caller);
  requireReadable(newest, options);
  const now = context.now();
  const accuracy7d = readRecentAccuracy(known, { horizonDays, days: 7, now });
  const { values } = newest;
  const missing: MissingPart[] = [];
  const day = known.findDay(newest.day)!;
  const model = await loadOrNoteMissing(missing, 'model', () => context.models.get(newest.modelVersion));
  const { near: strikes, differences } = await listPricedStrikes(context, { day, model }, missing);
  const signal = {
    signal: values.signal,
    direction: values.direction,
    directionEvidence: 'none' as const,
    ...toCommittedProbabilities(values),
    horizon: formatHorizonName(newest.horizonDays),
    btcPrice: fromCents(values.btcPriceCents),
    regime: newest.regime,
    modelVersion: newest.modelVersion,
    timestamp: newest.signalAt.toISOString(),
    predictionId: newest._id,
    date: formatDay(newest.day),
    sequence: newest.sequence,
    status: toVisibleStatus(newest, true),
    windowOpensAt: newest.windowOpensAt.toISOString(),
    resolvesAt: newest.resolvesAt.toISOString(),
    replayed: newest.replayed,
    late: newest.late,
    accuracyOfLast7Days: accuracy7d.accuracy,
    accuracy7d,
    skill: toSkill(figures),
    ...computeFreshness(newest, { known, lastCovered }, now),
    ...buildCommitmentProof(newest, { saltSecret: options.saltSecret, publicUrl: context.publicUrl }),
    source: market.source,
    range: await readPriceRange(context.models, found),
    ...toMoveWithLimits(newest),
    moveVerdict: figures.moveVerdict,
    differences,
  } satisfies Prediction;
  return { newest, figures, signal, day, model, strikes, missing };
}

export const COMMITMENT_FORMULA =
  'keccak256(abi.encode(bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents))';

/** Only for callers that may read the forecast. */
export function buildCommitmentProof(
  { _id, values, commitment, attestation }: MadeForecast,
  options: { saltSecret: string; publicUrl: string },
) {
  const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = buildOpening(options.saltSecret, _id, values);
  const codes = { signal: SIGNAL_CODES[signal], direction: DIRECTION_CODES[direction] };
  return {
    commitment,
    salt,
    opening: { salt, ...codes, confidenceBps, pUpBps, btcPriceCents },
    formula: COMMITMENT_FORMULA,
    attestationUid: attestation?.uid ?? null,
    txHash: attestation?.txHash ?? null,
    attestedAt: attestation?.at.toISOString() ?? null,
    verifyUrl: attestation === null ? null : `${options.publicUrl}/api/svc/onchain-oracle/verify/${attestation.uid}`,
  };
}

interface RecentRange {
  horizonDays: number;
  days: number;
  now: Date;
}

function readRecentAccuracy(known: RecordProjection, at: RecentRange) {
  // The window of a day closes `horizonDays` after its end.
  const first = toDay(at.now.getTime()) - at.days - at.horizonDays - 1;
  return computeRecentAccuracy(known.listSince(at.horizonDays, first), at);
}

/** Share of wins among forecasts of one horizon whose window closed within the last `days`; HOLD and VOID do not count. */
export function computeRecentAccuracy(docs: ForecastDoc[], at: RecentRange) {
  const since = at.now.getTime() - at.days * DAY_MS;
  const recent = docs.filter(({ resolvesAt }) => resolvesAt.getTime() > since && resolvesAt <= at.now);
  const { n, wins, accuracy, effectiveN, independent, interval95 } = computeForecastWinRate(recent, at.horizonDays);
  return { days: at.days, n, wins, accuracy, effectiveN, independent, interval95 };
}

/** The thresholds of a forecast and of all regimes: a signal is BUY or SELL where P(up) is at least `theta` away from one half. */
function describeThresholds({ regime, values: { threshold: theta } }: MadeForecast) {
  return {
    regime,
    theta,
    buyFrom: roundTo(0.5 + theta, 4),
    sellUpTo: roundTo(0.5 - theta, 4),
    regimes: REGIME_NAMES.map((name) => {
      const { theta: own, riskLevel, daysToEnter } = REGIMES[name];
      return { regime: name, theta: own, riskLevel, daysToEnter };
    }),
  };
}

const describeSchema = (name: SchemaName) => ({ uid: getSchemaUid(name), fields: EAS_SCHEMAS[name] });

/** E.g. `HOLD 0, BUY 1`. */
export const formatCodes = (codes: Record<string, number>) =>
  Object.entries(codes)
    .map((entry) => entry.join(' '))
    .join(', ');

/** What a verifier needs to check forecasts without this service. */
export function describeManualVerification({ chain, wallets }: Context) {
  return {
    chain: `eip155:${chain.chainId}`,
    easContract: chain.addresses.eas,
    attester: wallets.attester.address,
    predictionSchema: describeSchema('prediction'),
    resolutionSchema: describeSchema('resolution'),
    formula: COMMITMENT_FORMULA,
    codes: `signal: ${formatCodes(SIGNAL_CODES)}; direction: ${formatCodes(DIRECTION_CODES)}; outcome: ${formatCodes(OUTCOME_CODES)}`,
    steps: [
      'Call getAttestation(uid) of the prediction on the EAS contract; compare attester and schema with those here.',
      'Decode its data by the fields of the schema: time has to be before windowOpensAt.',
      'Follow refUID from day to day: sequence goes down by one each time, to 1, without a gap.',
      'Once it is resolved, do the same with the resolution: its refUID is the prediction.',
      'Hash salt and values of the resolution by the formula: the result is the commitment of the prediction.',
      'Compare the two closes with public daily closes of BTC/USD (00:00 UTC): UP wins if the later one is higher.',
    ],
  };
}
