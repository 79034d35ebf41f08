import { PUBLIC_CALLER } from '../../auth/caller.ts';
import type { ConfirmedAttestation } from '../../chain/eas/attester.ts';
import type { Comparison } from '../../forecast/challenge/score-distributions.ts';
import { DAY_MS, type Day, parseDay } from '../../forecast/day.ts';
import type { GridScores } from '../../forecast/scoring/grid-scores.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import { LARGE_READ_BATCH } from '../../platform/mongo.ts';
import type { DayDoc } from '../day-doc.ts';
import type { DayModel } from '../distributions/day-distributions.ts';
import type { DistributionScoresDoc } from '../distributions/distribution-scores.ts';
import type { CommittedValues, ForecastDoc, Resolution } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { mayRead } from '../forecast-visibility.ts';
import type { ModelStore } from '../model-store.ts';
import { scoreForecasts } from '../statistics/score-forecasts.ts';

interface Scores {
  rose: boolean;
  correct: boolean | null;
  brier: number;
  /** Null without a base rate, as the next. */
  brierClimatology: number | null;
  logScore: number;
  logScoreClimatology: number | null;
  crps: number | null;
  pit: number | null;
}

/** Of a version's committed distribution, with what it is compared with; null on days of before distributions were committed. */
interface CommittedScores {
  own: GridScores;
  baselines: DistributionScoresDoc['baselines'];
  /** Against the version before it; null for the first. */
  comparison: Comparison | null;
}

export interface ForecastRow {
  doc: ForecastDoc;
  values: CommittedValues;
  resolution: Resolution;
  attestation: ConfirmedAttestation;
  reveal: ConfirmedAttestation;
  scores: Scores;
}

export interface ScoreRow {
  doc: ForecastDoc;
  modelVersion: string | null;
  scores: Scores;
  committed: CommittedScores | null;
}

export interface InputRow
  extends Pick<DayDoc, 'day' | 'sequence' | 'modelVersion' | 'signalAt' | 'inputsDigest' | 'replayed' | 'late' | 'models'> {
  metadata: Pick<DayDoc['metadata'], 'digest' | 'cid'>;
}

export interface DatasetRows {
  forecasts: ForecastRow[];
  scores: ScoreRow[];
  inputs: InputRow[];
}

export interface DatasetRowsDeps {
  record: Pick<ForecastRecord, 'forecasts' | 'days' | 'distributionScores' | 'findGenesisDay' | 'findLastDay'>;
  models: Pick<ModelStore, 'get'>;
  now(): Date;
}

/** Rows of all tables, in batches of a calendar year, which bounds the documents in memory. */
export async function* readRowsByYear(deps: DatasetRowsDeps): AsyncGenerator<DatasetRows> {
  const [first, last] = await Promise.all([deps.record.findGenesisDay(), deps.record.findLastDay()]);
  if (first === null || last === null) return;
  for (let from = first; from <= last; from = startOfNextYear(from)) {
    yield await readRows(deps, { from, before: startOfNextYear(from) });
  }
}

function startOfNextYear(day: Day): Day {
  const year = new Date(day * DAY_MS).getUTCFullYear();
  return parseDay(`${year + 1}-01-01`);
}

async function readRows({ record, models, now }: DatasetRowsDeps, { from, before }: { from: Day; before: Day }): Promise<DatasetRows> {
  const range = { $gte: from, $lt: before };
  const docs = await record.forecasts
    .find({ day: range, reveal: { $ne: null } }, { batchSize: LARGE_READ_BATCH })
    .sort({ day: 1, horizonDays: 1 })
    .toArray();
  const resolved = docs.flatMap((doc) => toResolved(doc, now()) ?? []);
  const resolvedDocs = resolved.map(({ doc }) => doc);
  const scored = await scoreForecasts({ models, distributionScores: record.distributionScores }, resolvedDocs);
  const committed = await record.distributionScores.listByIds(resolvedDocs.map(({ _id }) => _id));
  const committedById = new Map(committed.map((one) => [one._id, one]));
  const forecasts = resolved.map((row, index) => ({ ...row, scores: toScores(scored[index]) }));
  const days = new Set(forecasts.map(({ doc }) => doc.day));
  const inputs = await record.days.find({ day: range }, { projection: INPUT_FIELDS }).sort({ day: 1 }).toArray();
  const modelsByDay = new Map(inputs.map(({ day, models: own }) => [day, own ?? []]));
  return {
    forecasts,
    scores: forecasts.flatMap((row) => toScoreRows(row, committedById.get(row.doc._id), modelsByDay.get(row.doc.day) ?? [])),
    inputs: inputs.filter(({ day }) => days.has(day)),
  };
}

const INPUT_FIELDS = {
  ...{ day: 1, sequence: 1, modelVersion: 1, signalAt: 1, inputsDigest: 1, replayed: 1, late: 1, models: 1 },
  ...{ 'metadata.digest': 1, 'metadata.cid': 1 },
};

/** The row of the champion, then one for each challenger that committed a distribution. */
function toScoreRows(
  { doc, scores }: Pick<ForecastRow, 'doc' | 'scores'>,
  found: DistributionScoresDoc | undefined,
  models: readonly DayModel[],
): ScoreRow[] {
  if (found === undefined) return [{ doc, modelVersion: doc.modelVersion, scores, committed: null }];
  return models.flatMap(({ name, modelVersion }) => {
    const own = found.models[name];
    if (own === undefined || modelVersion === null) return [];
    const comparison = found.comparisons.find(({ challenger }) => challenger === name) ?? null;
    const committed = { own, baselines: found.baselines, comparison };
    return [{ doc, modelVersion, scores: { ...scores, crps: own.crps, pit: own.pit }, committed }];
  });
}

/** Null unless its values and outcome are public under every policy. */
function toResolved(doc: ForecastDoc, now: Date): Omit<ForecastRow, 'scores'> | null {
  if (!mayRead(doc, { caller: PUBLIC_CALLER, policy: 'resolution', now })) return null;
  const { values, resolution, attestation, reveal } = doc;
  if (values === null || resolution === null || attestation === null || reveal === null) return null;
  return { doc, values, resolution, attestation, reveal };
}

function toScores({ call, rose, pUp, climatology, distribution }: ScoredForecast): Scores {
  return {
    rose,
    correct: call === null ? null : (call === 'UP') === rose,
    brier: computeBrier(pUp, rose),
    brierClimatology: climatology === null ? null : computeBrier(climatology, rose),
    logScore: computeLogScore(pUp, rose),
    logScoreClimatology: climatology === null ? null : computeLogScore(climatology, rose),
    crps: distribution?.crps ?? null,
    pit: distribution?.pit ?? null,
  };
}

const computeBrier = (p: number, rose: boolean) => (p - Number(rose)) ** 2;

/** In nats. */
const computeLogScore = (p: number, rose: boolean) => -Math.log(rose ? p : 1 - p);
