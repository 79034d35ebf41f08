import type { Hex } from 'viem';
import type { WeekComparison } from '../../../record/crowd/weekly-comparison.ts';
import type { DayDoc } from '../../../record/day-doc.ts';
import { type ForecastDoc, formatForecastId, fromCents } from '../../../record/forecast-doc.ts';
import { mayRead, type PublicStatus, toPublicStatus } from '../../../record/forecast-visibility.ts';
import { findNearestHorizon } from '../../../record/market/strike-probability.ts';
import { buildCommitmentProof } from '../../../record/oracle/commitment-proof.ts';
import { describeManualVerification } from '../../../record/oracle/manual-verification.ts';
import { type DocumentDeps, PAYER_CALLER, SOLD_HORIZON_DAYS } from '../deps.ts';
import { BASES, PROBABILITY_FORMULA } from './formula.ts';

export interface WeekProof {
  predictionId: string;
  status: PublicStatus;
  /** Null until it is on chain. */
  predictionUid: Hex | null;
  resolutionUid: Hex | null;
  commitment: Hex;
  /** The committed values, as the numbers that are encoded; null when nothing was forecast. */
  opening: ReturnType<typeof buildCommitmentProof>['opening'] | null;
}

export interface StrikeInputs {
  strike: number;
  expiresAt: string;
  /** Start of the time to expiry. */
  at: string;
  spot: number;
  horizonDays: number;
  pUp: number;
  v94: number;
  v99: number;
  modelVersion: string;
  oracleProbability: number | null;
}

interface WeekEvidence {
  weekId: string;
  date: string;
  /** Of the 7-day forecast and of the forecast whose P(up) was used, when different. */
  proofs: WeekProof[];
  /** Null when the day is not in the record. */
  probability: StrikeInputs | null;
}

interface ModelQuantiles {
  modelVersion: string;
  horizonDays: number;
  residualQuantiles: readonly number[];
}

export async function composeCrowdEvidence(deps: DocumentDeps, weeks: readonly WeekComparison[]) {
  const { record, wagers } = deps;
  const [priced, days] = await Promise.all([
    wagers.listPriced(),
    record.days.find({ _id: { $in: weeks.map(({ date }) => date) } }).toArray(),
  ]);
  const decidedAt = new Map(priced.map((wager) => [wager._id, wager.decidedAt]));
  const byDate = new Map(days.map((day) => [day._id, day]));
  const inputs = weeks.map((week) => toStrikeInputs(byDate.get(week.date), week, decidedAt.get(week.date)));
  const ids = weeks.map(({ date }, index) => listForecastIds(byDate.get(date), inputs[index]));
  const docs = new Map((await record.listByIds(ids.flat())).map((doc) => [doc._id, doc]));
  const used = inputs.filter((one) => one !== null);
  return {
    bases: BASES,
    formula: PROBABILITY_FORMULA,
    byHand: describeManualVerification(deps),
    weeks: weeks.map(({ weekId, date }, index): WeekEvidence => {
      const proofs = ids[index].flatMap((id) => docs.get(id) ?? []).map((doc) => toWeekProof(deps, doc));
      return { weekId, date, proofs, probability: inputs[index] };
    }),
    models: await readModelQuantiles(deps, used),
  };
}

/** Ids of the 7-day forecast and of the forecast whose P(up) was used, when different. */
function listForecastIds(day: DayDoc | undefined, inputs: StrikeInputs | null): string[] {
  if (day === undefined) return [];
  const horizons = new Set([SOLD_HORIZON_DAYS, inputs?.horizonDays ?? SOLD_HORIZON_DAYS]);
  return [...horizons].map((horizonDays) => formatForecastId(day.day, horizonDays));
}

function toWeekProof(deps: DocumentDeps, doc: ForecastDoc): WeekProof {
  const { _id: predictionId, attestation, reveal, commitment, values, modelVersion, regime } = doc;
  const isOpen = values !== null && modelVersion !== null && regime !== null && mayRead(doc, deps.viewFor(PAYER_CALLER));
  return {
    predictionId,
    status: toPublicStatus(doc),
    predictionUid: attestation?.uid ?? null,
    resolutionUid: reveal?.uid ?? null,
    commitment,
    opening: isOpen ? buildCommitmentProof({ ...doc, values, modelVersion, regime }, deps).opening : null,
  };
}

function toStrikeInputs(day: DayDoc | undefined, comparison: WeekComparison, at: Date | undefined): StrikeInputs | null {
  const { strike, expiresAt, oracleProbability } = comparison;
  if (day === undefined || at === undefined) return null;
  const { price, variance, modelVersion, forecasts } = day;
  if (price === null || variance === null || modelVersion === null) return null;
  const { horizonDays } = findNearestHorizon({ expiresAt: new Date(expiresAt), at });
  const { pUp } = forecasts[horizonDays];
  return {
    strike,
    expiresAt,
    at: at.toISOString(),
    spot: fromCents(price.cents),
    horizonDays,
    pUp,
    v94: variance.v94,
    v99: variance.v99,
    modelVersion,
    oracleProbability,
  };
}

function readModelQuantiles({ models }: DocumentDeps, used: readonly StrikeInputs[]): Promise<ModelQuantiles[]> {
  const wanted = new Map(used.map(({ modelVersion, horizonDays }) => [`${modelVersion}:${horizonDays}`, { modelVersion, horizonDays }]));
  return Promise.all(
    [...wanted.values()].map(async ({ modelVersion, horizonDays }) => {
      const { horizons } = await models.get(modelVersion);
      const { residualQuantiles } = horizons.find((fit) => fit.horizonDays === horizonDays)!;
      return { modelVersion, horizonDays, residualQuantiles };
    }),
  );
}
