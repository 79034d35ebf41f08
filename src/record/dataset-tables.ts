import { PUBLIC_CALLER } from '../auth/caller.ts';
import type { ConfirmedAttestation } from '../chain/eas/eas.ts';
import { BASELINES } from '../forecast/baselines.ts';
import type { Comparison } from '../forecast/challenge.ts';
import { DAY_MS, type Day, formatDay, parseDay } from '../forecast/day.ts';
import type { GridScores } from '../forecast/distribution.ts';
import type { ScoredForecast } from '../forecast/statistics.ts';
import { LARGE_READ_BATCH } from '../platform/mongo.ts';
import { roundTo } from '../platform/validation.ts';
import type { DistributionScoresDoc } from './distribution-scores.ts';
import { scoreForecasts } from './figures.ts';
import { type CommittedValues, type DayDoc, type DayModel, type ForecastDoc, fromCents, type Resolution } from './forecast-doc.ts';
import type { ForecastRecord } from './forecasts.ts';
import type { ModelStore } from './model-card.ts';
import { mayRead, toCommittedProbabilities } from './visibility.ts';

interface RowByTable {
  forecasts: ForecastRow;
  scores: ScoreRow;
  inputs: InputRow;
}

export type TableName = keyof RowByTable;

const DATE = 'UTC day of the forecast';
const HORIZON_DAYS = 'Horizon in days: 1, 2, 3 or 7';
const MODEL_VERSION = 'Model version of this row; null where none was recorded';

const quantile = (key: string): DatasetColumn<ForecastRow> => ({
  name: `priceP${key}`,
  type: 'double',
  origin: 'prices',
  description: `Forecast ${Number(key)} % quantile of BTC/USD at resolution, USD`,
  value: ({ values }) => (values.priceQuantiles[`p${key}`] === undefined ? null : roundTo(values.priceQuantiles[`p${key}`], 2)),
});

/** One row a resolved forecast. */
const FORECAST_COLUMNS: readonly DatasetColumn<ForecastRow>[] = [
  { name: 'date', type: 'date', description: DATE, value: ({ doc }) => formatDay(doc.day) },
  { name: 'horizonDays', type: 'int', description: HORIZON_DAYS, value: ({ doc }) => doc.horizonDays },
  { name: 'predictionId', type: 'string', description: 'Id of the forecast in the API', value: ({ doc }) => doc._id },
  {
    name: 'sequence',
    type: 'int',
    description: 'Number of the forecast within its horizon; a missing number is a void, missed or unresolved day',
    value: ({ doc }) => doc.sequence,
  },
  { name: 'modelVersion', type: 'string', description: MODEL_VERSION, value: ({ doc }) => doc.modelVersion },
  { name: 'regime', type: 'string', description: 'Market regime of the day', value: ({ doc }) => doc.regime },
  { name: 'signal', type: 'string', description: 'BUY, SELL or HOLD', value: ({ values }) => values.signal },
  { name: 'direction', type: 'string', description: 'UP or DOWN', value: ({ values }) => values.direction },
  {
    name: 'pUp',
    type: 'double',
    description: 'Probability that the close at resolution is above the close at window open, as committed',
    value: ({ values }) => toCommittedProbabilities(values).pUp,
  },
  {
    name: 'confidence',
    type: 'double',
    description: 'Probability of the direction, as committed',
    value: ({ values }) => toCommittedProbabilities(values).confidence,
  },
  { name: 'climatology', type: 'double', description: 'Base rate of UP known on that day', value: ({ values }) => values.climatology },
  ...['05', '10', '25', '50', '75', '90', '95'].map(quantile),
  {
    name: 'btcPrice',
    type: 'double',
    origin: 'prices',
    description: 'BTC/USD at signal time, USD: median of venues with live data',
    value: ({ values }) => fromCents(values.btcPriceCents),
  },
  {
    name: 'btcAtSignal',
    type: 'double',
    origin: 'prices',
    description: 'Close at window open, USD: median of venues',
    value: ({ resolution }) => fromCents(resolution.btcAtSignalCents),
  },
  {
    name: 'btcAtResolution',
    type: 'double',
    origin: 'prices',
    description: 'Close at resolution, USD: median of venues',
    value: ({ resolution }) => fromCents(resolution.btcAtResolutionCents),
  },
  {
    name: 'returnBps',
    type: 'int',
    origin: 'prices',
    description: 'Return between these closes, basis points',
    value: ({ resolution }) => resolution.returnBps,
  },
  { name: 'venues', type: 'int', description: 'Venues of the quorum', value: ({ resolution }) => resolution.venues.length },
  { name: 'actualDirection', type: 'string', description: 'UP or DOWN', value: ({ resolution }) => resolution.actualDirection },
  { name: 'outcome', type: 'string', description: 'WIN, LOSS or HOLD', value: ({ resolution }) => resolution.outcome },
  { name: 'brier', type: 'double', description: 'Brier score of P(up); lower is better', value: ({ scores }) => scores.brier },
  {
    name: 'logScore',
    type: 'double',
    description: 'Logarithmic score of P(up), nats; lower is better',
    value: ({ scores }) => scores.logScore,
  },
  {
    name: 'crps',
    type: 'double',
    description: 'CRPS of the distribution of the log return; lower is better; null without the coefficients of its model',
    value: ({ scores }) => scores.crps,
  },
  { name: 'signalAt', type: 'timestamp', description: 'Time of the forecast', value: ({ doc }) => doc.signalAt },
  { name: 'windowOpensAt', type: 'timestamp', description: 'Start of the outcome window', value: ({ doc }) => doc.windowOpensAt },
  { name: 'resolvesAt', type: 'timestamp', description: 'End of the outcome window', value: ({ doc }) => doc.resolvesAt },
  {
    name: 'attestedAt',
    type: 'timestamp',
    description: 'Block time of the commitment: by then the width was public, and a holder of a token could read the values',
    value: ({ attestation }) => attestation.at,
  },
  {
    name: 'revealedAt',
    type: 'timestamp',
    description: 'Block time of the resolution, from which on everybody could read the values',
    value: ({ reveal }) => reveal.at,
  },
  { name: 'replayed', type: 'boolean', description: 'Whether a replay of past days made it', value: ({ doc }) => doc.replayed },
  { name: 'late', type: 'boolean', description: 'Whether it was made after its time', value: ({ doc }) => doc.late },
  { name: 'commitment', type: 'string', description: 'Commitment on chain', value: ({ doc }) => doc.commitment },
  { name: 'attestationUid', type: 'string', description: 'Uid of the prediction', value: ({ attestation }) => attestation.uid },
  { name: 'attestationTx', type: 'string', description: 'Its transaction', value: ({ attestation }) => attestation.txHash },
  { name: 'resolutionUid', type: 'string', description: 'Uid of the resolution', value: ({ reveal }) => reveal.uid },
  { name: 'resolutionTx', type: 'string', description: 'Its transaction', value: ({ reveal }) => reveal.txHash },
];

const baselineCrps = ({ name, title }: (typeof BASELINES)[number]): DatasetColumn<ScoreRow> => ({
  name: `crps${name[0]!.toUpperCase()}${name.slice(1)}`,
  type: 'double',
  description: `CRPS of the baseline: ${title}`,
  value: ({ committed }) => committed?.baselines[name]?.crps ?? null,
});

/** One row a resolved forecast and model version. */
const SCORE_COLUMNS: readonly DatasetColumn<ScoreRow>[] = [
  { name: 'date', type: 'date', description: DATE, value: ({ doc }) => formatDay(doc.day) },
  { name: 'horizonDays', type: 'int', description: HORIZON_DAYS, value: ({ doc }) => doc.horizonDays },
  { name: 'modelVersion', type: 'string', description: MODEL_VERSION, value: ({ modelVersion }) => modelVersion },
  { name: 'rose', type: 'boolean', description: 'Whether the close rose', value: ({ scores }) => scores.rose },
  {
    name: 'correct',
    type: 'boolean',
    description: 'Whether the direction came true; null for HOLD',
    value: ({ scores }) => scores.correct,
  },
  { name: 'brier', type: 'double', description: 'Brier score of P(up); lower is better', value: ({ scores }) => scores.brier },
  {
    name: 'brierClimatology',
    type: 'double',
    description: 'The same of the base rate known on that day',
    value: ({ scores }) => scores.brierClimatology,
  },
  { name: 'logScore', type: 'double', description: 'Logarithmic score of P(up), nats', value: ({ scores }) => scores.logScore },
  {
    name: 'logScoreClimatology',
    type: 'double',
    description: 'The same of the base rate, nats',
    value: ({ scores }) => scores.logScoreClimatology,
  },
  {
    name: 'crps',
    type: 'double',
    description: 'CRPS of the distribution of the log return from the price at signal time; lower is better',
    value: ({ scores }) => scores.crps,
  },
  {
    name: 'pit',
    type: 'double',
    description: 'Probability integral transform: forecast probability of a return up to the realized one',
    value: ({ scores }) => scores.pit,
  },
  ...[50, 80, 90].map(
    (percent): DatasetColumn<ScoreRow> => ({
      name: `within${percent}`,
      type: 'boolean',
      description: `Whether the realized return is within the central ${percent} % of the distribution`,
      value: ({ scores: { pit } }) => (pit === null ? null : Math.abs(pit - 0.5) <= percent / 200),
    }),
  ),
  {
    name: 'distributionLogScore',
    type: 'double',
    description:
      'Negative log density of the realized return; lower is better; null before distributions were committed, as all that follow',
    value: ({ committed }) => committed?.own.logScore ?? null,
  },
  ...BASELINES.map(baselineCrps),
  {
    name: 'difference',
    type: 'double',
    description: 'CRPS of the version before minus its own, over `maxDifference`: the daily increment of the test between versions',
    value: ({ committed }) => committed?.comparison?.difference ?? null,
  },
  {
    name: 'maxDifference',
    type: 'double',
    description: 'The most by which the two CRPS can differ, known at commitment',
    value: ({ committed }) => committed?.comparison?.limit ?? null,
  },
];

/** One row a day with a resolved forecast. */
const INPUT_COLUMNS: readonly DatasetColumn<InputRow>[] = [
  { name: 'date', type: 'date', description: DATE, value: ({ day }) => formatDay(day) },
  { name: 'sequence', type: 'int', description: 'Number of the day in the record', value: ({ sequence }) => sequence },
  { name: 'modelVersion', type: 'string', description: MODEL_VERSION, value: ({ modelVersion }) => modelVersion },
  { name: 'signalAt', type: 'timestamp', description: 'Time of the forecast', value: ({ signalAt }) => signalAt },
  {
    name: 'inputsDigest',
    type: 'string',
    description: "Digest of the model's inputs, in the attestations of the day",
    value: ({ inputsDigest }) => inputsDigest,
  },
  {
    name: 'metadataDigest',
    type: 'string',
    description: 'sha2-256 of the public metadata: sources and times of the inputs, without their values',
    value: ({ metadata }) => metadata.digest,
  },
  { name: 'metadataCid', type: 'string', description: 'Its CIDv1, served at `/ipfs/{cid}`', value: ({ metadata }) => metadata.cid },
  { name: 'replayed', type: 'boolean', description: 'Whether a replay of past days made it', value: ({ replayed }) => replayed },
  { name: 'late', type: 'boolean', description: 'Whether it was made after its time', value: ({ late }) => late },
];

export const DATASET_TABLES: { [Name in TableName]: DatasetTable<RowByTable[Name]> } = {
  forecasts: {
    title: 'Resolved forecasts',
    description: 'Values, outcome, scores and attestations of each forecast with its outcome on chain, by day and horizon',
    columns: FORECAST_COLUMNS,
  },
  scores: {
    title: 'Scores',
    description: 'Scores of each resolved forecast, a row for each model version that was committed',
    columns: SCORE_COLUMNS,
  },
  inputs: {
    title: 'Digests of inputs',
    description: "Digests of the model's inputs and of their public metadata, for each day with a resolved forecast",
    columns: INPUT_COLUMNS,
  },
};

export const TABLE_NAMES = Object.keys(DATASET_TABLES) as [TableName, ...TableName[]];

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

interface ForecastRow {
  doc: ForecastDoc;
  values: CommittedValues;
  resolution: Resolution;
  attestation: ConfirmedAttestation;
  reveal: ConfirmedAttestation;
  scores: Scores;
}

interface ScoreRow {
  doc: ForecastDoc;
  modelVersion: string | null;
  scores: Scores;
  committed: CommittedScores | null;
}

interface InputRow
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

export type ColumnType = 'string' | 'int' | 'double' | 'boolean' | 'date' | 'timestamp';

export type CellValue = string | number | boolean | Date | null;

export interface DatasetColumn<Row> {
  name: string;
  type: ColumnType;
  /** With its unit. */
  description: string;
  /** `prices`: derived from prices of third parties, mostly as a median of venues. Default: the record's own value. */
  origin?: 'prices';
  value(row: Row): CellValue;
}

interface DatasetTable<Row> {
  title: string;
  description: string;
  columns: readonly DatasetColumn<Row>[];
}

/** Encodes a table in batches of rows. */
export interface TableEncoder<Row> {
  add(rows: readonly Row[]): void;
  finish(): Buffer;
}
