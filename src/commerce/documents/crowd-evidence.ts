import type { Hex } from 'viem';
import type { WeekComparison } from '../../record/crowd/weekly-comparison.ts';
import type { DayDoc } from '../../record/day-record.ts';
import { type ForecastDoc, forecastId, fromCents } from '../../record/forecast.ts';
import { proofOf } from '../../record/oracle/proof.ts';
import { byHand } from '../../record/prediction-verification.ts';
import { nearestHorizon } from '../../record/strike-probability.ts';
import { mayRead, type PublicStatus, statusOf } from '../../record/views.ts';
import { BASES, PROBABILITY_FORMULA } from './crowd-formula.ts';
import { type DocumentParts, PAYER, SOLD_HORIZON_DAYS } from './parts.ts';

/** A forecast behind a week: where it is on chain, and what opens its commitment. */
export interface WeekProof {
  predictionId: string;
  status: PublicStatus;
  /** Null until it is on chain. */
  predictionUid: Hex | null;
  resolutionUid: Hex | null;
  commitment: Hex;
  /** The committed values, as the numbers that are encoded; null when nothing was forecast. */
  opening: ReturnType<typeof proofOf>['opening'] | null;
}

/** What the oracle's probability of a strike was computed from. */
export interface StrikeInputs {
  strike: number;
  expiresAt: string;
  /** When the time to expiry began. */
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
  /** Of the 7-day forecast, and of the one whose P(up) the probability rests on where that is another. */
  proofs: WeekProof[];
  /** Null where the day is not in the record. */
  probability: StrikeInputs | null;
}

/** The fitted quantiles of a model, told once for all weeks that use them. */
interface ModelQuantiles {
  modelVersion: string;
  horizonDays: number;
  residualQuantiles: readonly number[];
}

/** Everything to compute a comparison again from, with what each part of it rests on. */
export async function crowdEvidence(parts: DocumentParts, weeks: readonly WeekComparison[]) {
  const { record, wagers } = parts;
  const [priced, days] = await Promise.all([wagers.priced(), record.days.find({ _id: { $in: weeks.map(({ date }) => date) } }).toArray()]);
  const [decidedAt, byDate] = [new Map(priced.map((wager) => [wager._id, wager.decidedAt])), new Map(days.map((day) => [day._id, day]))];
  const inputs = weeks.map((week) => inputsOf(byDate.get(week.date), week, decidedAt.get(week.date)));
  const ids = weeks.map(({ date }, index) => idsOf(byDate.get(date), inputs[index]));
  const docs = new Map((await record.byIds(ids.flat())).map((doc) => [doc._id, doc]));
  return {
    bases: BASES,
    formula: PROBABILITY_FORMULA,
    byHand: byHand(parts),
    weeks: weeks.map(({ weekId, date }, index): WeekEvidence => {
      const proofs = ids[index].flatMap((id) => docs.get(id) ?? []).map((doc) => proofOfWeek(parts, doc));
      return { weekId, date, proofs, probability: inputs[index] };
    }),
    models: await modelsOf(
      parts,
      inputs.flatMap((one) => one ?? []),
    ),
  };
}

/** The 7-day forecast of the day, and the one whose P(up) the probability rests on where that is another. */
function idsOf(day: DayDoc | undefined, inputs: StrikeInputs | null): string[] {
  if (day === undefined) return [];
  const horizons = new Set([SOLD_HORIZON_DAYS, inputs?.horizonDays ?? SOLD_HORIZON_DAYS]);
  return [...horizons].map((horizonDays) => forecastId(day.day, horizonDays));
}

function proofOfWeek(parts: DocumentParts, doc: ForecastDoc): WeekProof {
  const { _id: predictionId, attestation, reveal, commitment, values, modelVersion, regime } = doc;
  const isOpen = values !== null && modelVersion !== null && regime !== null && mayRead(doc, parts.viewFor(PAYER));
  return {
    predictionId,
    status: statusOf(doc),
    predictionUid: attestation?.uid ?? null,
    resolutionUid: reveal?.uid ?? null,
    commitment,
    opening: isOpen ? proofOf({ ...doc, values, modelVersion, regime }, parts).opening : null,
  };
}

function inputsOf(
  day: DayDoc | undefined,
  { strike, expiresAt, oracleProbability }: WeekComparison,
  at: Date | undefined,
): StrikeInputs | null {
  if (day === undefined || at === undefined) return null;
  const { price, variance, modelVersion, forecasts } = day;
  if (price === null || variance === null || modelVersion === null) return null;
  const { horizonDays } = nearestHorizon({ expiresAt: new Date(expiresAt), at });
  const { pUp } = forecasts[horizonDays];
  const told = { strike, expiresAt, at: at.toISOString(), spot: fromCents(price.cents), horizonDays, pUp };
  return { ...told, v94: variance.v94, v99: variance.v99, modelVersion, oracleProbability };
}

function modelsOf({ models }: DocumentParts, used: readonly StrikeInputs[]): Promise<ModelQuantiles[]> {
  const wanted = new Map(used.map(({ modelVersion, horizonDays }) => [`${modelVersion}:${horizonDays}`, { modelVersion, horizonDays }]));
  return Promise.all(
    [...wanted.values()].map(async ({ modelVersion, horizonDays }) => {
      const { horizons } = await models.get(modelVersion);
      const { residualQuantiles } = horizons.find((fit) => fit.horizonDays === horizonDays)!;
      return { modelVersion, horizonDays, residualQuantiles };
    }),
  );
}
