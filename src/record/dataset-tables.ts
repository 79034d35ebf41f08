import { PUBLIC_CALLER } from '../auth/caller.ts';
import type { ConfirmedAttestation } from '../chain/eas/eas.ts';
import { BASELINES } from '../forecast/baselines.ts';
import type { Comparison } from '../forecast/challenge.ts';
import { DAY_MS, type Day, formatDay, parseDay } from '../forecast/day.ts';
import type { GridScores } from '../forecast/distribution.ts';
import type { MoveScores } from '../forecast/move-scores.ts';
import type { ScoredForecast } from '../forecast/statistics.ts';
import { roundTo } from '../platform/validation.ts';
import type { DistributionScoresDoc } from './distribution-scores.ts';
import { scoreForecasts } from './figures.ts';
import { type CommittedValues, type DayDoc, type DayModel, type ForecastDoc, fromCents, type Resolution } from './forecast-doc.ts';
import type { ModelStore } from './model-card.ts';
import type { RecordProjection } from './projection.ts';
import { mayRead, toCommittedProbabilities } from './visibility.ts';

interface RowByTable {
  forecasts: ForecastRow;
  scores: ScoreRow;
  inputs: InputRow;
}

export type TableName = keyof RowByTable;

const columnOf =
  (type: ColumnType, origin?: 'prices') =>
  <Row>(name: string, description: string, value: (row: Row) => CellValue): DatasetColumn<Row> => ({
    name,
    type,
    ...(origin && { origin }),
    description,
    value,
  });
const text = columnOf('string');
const int = columnOf('int');
const double = columnOf('double');
const flag = columnOf('boolean');
const date = columnOf('date');
const time = columnOf('timestamp');
const price = columnOf('double', 'prices');

const DATE = 'UTC day of the forecast';
const HORIZON_DAYS = 'Horizon in days: 1, 2, 3 or 7';
const MODEL_VERSION = 'Model version of this row; null where none was recorded';

const quantile = (key: string): DatasetColumn<ForecastRow> =>
  price(`priceP${key}`, `Forecast ${Number(key)} % quantile of BTC/USD at resolution, USD`, ({ values }) =>
    values.priceQuantiles[`p${key}`] === undefined ? null : roundTo(values.priceQuantiles[`p${key}`], 2),
  );

/** One row a resolved forecast. */
const FORECAST_COLUMNS: readonly DatasetColumn<ForecastRow>[] = [
  date('date', DATE, ({ doc }) => formatDay(doc.day)),
  int('horizonDays', HORIZON_DAYS, ({ doc }) => doc.horizonDays),
  text('predictionId', 'Id of the forecast in the API', ({ doc }) => doc._id),
  int(
    'sequence',
    'Number of the forecast within its horizon; a missing number is a void, missed or unresolved day',
    ({ doc }) => doc.sequence,
  ),
  text('modelVersion', MODEL_VERSION, ({ doc }) => doc.modelVersion),
  text('regime', 'Market regime of the day', ({ doc }) => doc.regime),
  text('signal', 'BUY, SELL or HOLD', ({ values }) => values.signal),
  text('direction', 'UP or DOWN', ({ values }) => values.direction),
  double(
    'pUp',
    'Probability that the close at resolution is above the close at window open, as committed',
    ({ values }) => toCommittedProbabilities(values).pUp,
  ),
  double('confidence', 'Probability of the direction, as committed', ({ values }) => toCommittedProbabilities(values).confidence),
  double('climatology', 'Base rate of UP known on that day', ({ values }) => values.climatology),
  double(
    'climatology4y',
    'The same of the last four years of training; null before it was stored',
    ({ values }) => values.climatology4y ?? null,
  ),
  text('moveSize', 'CALM, USUAL or WILD, public at once; null without a width, as all of the move', ({ move }) => move?.moveSize ?? null),
  double('pBig', 'P(big move), up or down, public at once', ({ move }) => move?.pBig ?? null),
  double('pBigFrequency', 'The same by the frequency of the last four years of training', ({ move }) => move?.references.frequency ?? null),
  double('pBigEwma', 'The same by EWMA(.94) volatility', ({ move }) => move?.references.ewma ?? null),
  double('pBigGarch', 'The same by GARCH(1,1)', ({ move }) => move?.references.garch ?? null),
  flag('big', 'Whether the move was big: from the price at signal time to the close at resolution', ({ move }) => move?.big ?? null),
  ...['05', '10', '25', '50', '75', '90', '95'].map(quantile),
  price('btcPrice', 'BTC/USD at signal time, USD: median of venues with live data', ({ values }) => fromCents(values.btcPriceCents)),
  price('btcAtSignal', 'Close at window open, USD: median of venues', ({ resolution }) => fromCents(resolution.btcAtSignalCents)),
  price('btcAtResolution', 'Close at resolution, USD: median of venues', ({ resolution }) => fromCents(resolution.btcAtResolutionCents)),
  columnOf('int', 'prices')('returnBps', 'Return between these closes, basis points', ({ resolution }) => resolution.returnBps),
  int('venues', 'Venues of the quorum', ({ resolution }) => resolution.venues.length),
  text('actualDirection', 'UP or DOWN', ({ resolution }) => resolution.actualDirection),
  text('outcome', 'WIN, LOSS or HOLD', ({ resolution }) => resolution.outcome),
  double('brier', 'Brier score of P(up); lower is better', ({ scores }) => scores.brier),
  double('logScore', 'Logarithmic score of P(up), nats; lower is better', ({ scores }) => scores.logScore),
  double(
    'crps',
    'CRPS of the distribution of the log return; lower is better; null without the coefficients of its model',
    ({ scores }) => scores.crps,
  ),
  time('signalAt', 'Time of the forecast', ({ doc }) => doc.signalAt),
  time('windowOpensAt', 'Start of the outcome window', ({ doc }) => doc.windowOpensAt),
  time('resolvesAt', 'End of the outcome window', ({ doc }) => doc.resolvesAt),
  time(
    'attestedAt',
    'Block time of the commitment: by then the width was public, and a holder of a token could read the values',
    ({ attestation }) => attestation.at,
  ),
  time('revealedAt', 'Block time of the resolution, from which on everybody could read the values', ({ reveal }) => reveal.at),
  flag('replayed', 'Whether a replay of past days made it', ({ doc }) => doc.replayed),
  flag('late', 'Whether it was made after its time', ({ doc }) => doc.late),
  text('commitment', 'Commitment on chain', ({ doc }) => doc.commitment),
  text('attestationUid', 'Uid of the prediction', ({ attestation }) => attestation.uid),
  text('attestationTx', 'Its transaction', ({ attestation }) => attestation.txHash),
  text('resolutionUid', 'Uid of the resolution', ({ reveal }) => reveal.uid),
  text('resolutionTx', 'Its transaction', ({ reveal }) => reveal.txHash),
];

const baselineCrps = ({ name, title }: (typeof BASELINES)[number]): DatasetColumn<ScoreRow> =>
  double(
    `crps${name[0]!.toUpperCase()}${name.slice(1)}`,
    `CRPS of the baseline: ${title}`,
    ({ committed }) => committed?.baselines[name]?.crps ?? null,
  );

/** One row a resolved forecast and model version. */
const SCORE_COLUMNS: readonly DatasetColumn<ScoreRow>[] = [
  date('date', DATE, ({ doc }) => formatDay(doc.day)),
  int('horizonDays', HORIZON_DAYS, ({ doc }) => doc.horizonDays),
  text('modelVersion', MODEL_VERSION, ({ modelVersion }) => modelVersion),
  flag('rose', 'Whether the close rose', ({ scores }) => scores.rose),
  flag('correct', 'Whether the direction came true; null for HOLD', ({ scores }) => scores.correct),
  double('brier', 'Brier score of P(up); lower is better', ({ scores }) => scores.brier),
  double('brierClimatology', 'The same of the base rate known on that day', ({ scores }) => scores.brierClimatology),
  double('logScore', 'Logarithmic score of P(up), nats', ({ scores }) => scores.logScore),
  double('logScoreClimatology', 'The same of the base rate, nats', ({ scores }) => scores.logScoreClimatology),
  double('crps', 'CRPS of the distribution of the log return from the price at signal time; lower is better', ({ scores }) => scores.crps),
  double('pit', 'Probability integral transform: forecast probability of a return up to the realized one', ({ scores }) => scores.pit),
  ...[50, 80, 90].map(
    (percent): DatasetColumn<ScoreRow> =>
      flag(
        `within${percent}`,
        `Whether the realized return is within the central ${percent} % of the distribution`,
        ({ scores: { pit } }) => (pit === null ? null : Math.abs(pit - 0.5) <= percent / 200),
      ),
  ),
  double(
    'distributionLogScore',
    'Negative log density of the realized return; lower is better; null before distributions were committed, as all that follow',
    ({ committed }) => committed?.own.logScore ?? null,
  ),
  ...BASELINES.map(baselineCrps),
  double(
    'difference',
    'CRPS of the version before minus its own, over `maxDifference`: the daily increment of the test between versions',
    ({ committed }) => committed?.comparison?.difference ?? null,
  ),
  double(
    'maxDifference',
    'The most by which the two CRPS can differ, known at commitment',
    ({ committed }) => committed?.comparison?.limit ?? null,
  ),
];

/** One row a day with a resolved forecast. */
const INPUT_COLUMNS: readonly DatasetColumn<InputRow>[] = [
  date('date', DATE, ({ day }) => formatDay(day)),
  int('sequence', 'Number of the day in the record', ({ sequence }) => sequence),
  text('modelVersion', MODEL_VERSION, ({ modelVersion }) => modelVersion),
  time('signalAt', 'Time of the forecast', ({ signalAt }) => signalAt),
  text('inputsDigest', "Digest of the model's inputs, in the attestations of the day", ({ inputsDigest }) => inputsDigest),
  text(
    'metadataDigest',
    'sha2-256 of the public metadata: sources and times of the inputs, without their values',
    ({ metadata }) => metadata.digest,
  ),
  text('metadataCid', 'Its CIDv1, served at `/ipfs/{cid}`', ({ metadata }) => metadata.cid),
  flag('replayed', 'Whether a replay of past days made it', ({ replayed }) => replayed),
  flag('late', 'Whether it was made after its time', ({ late }) => late),
];

export const DATASET_TABLES: {
  [Name in TableName]: { title: string; description: string; columns: readonly DatasetColumn<RowByTable[Name]>[] };
} = {
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

/** Null without a base rate: climatology; without a distribution: CRPS and PIT. */
type Scores = ReturnType<typeof toScores>;

interface ForecastRow {
  doc: ForecastDoc;
  values: CommittedValues;
  resolution: Resolution;
  attestation: ConfirmedAttestation;
  reveal: ConfirmedAttestation;
  scores: Scores;
  move: MoveScores | null;
}

interface ScoreRow {
  doc: ForecastDoc;
  modelVersion: string | null;
  scores: Scores;
  /** Of a version's committed distribution, with what it is compared with; null on days of before distributions were committed. */
  committed: {
    own: GridScores;
    baselines: DistributionScoresDoc['baselines'];
    /** Against the version before it; null for the first. */
    comparison: Comparison | null;
  } | null;
}

interface InputRow
  extends Pick<DayDoc, 'day' | 'sequence' | 'modelVersion' | 'signalAt' | 'inputsDigest' | 'replayed' | 'late' | 'models'> {
  metadata: Pick<DayDoc['metadata'], 'digest' | 'cid'>;
}

export type DatasetRows = { [Name in TableName]: RowByTable[Name][] };

/** Rows of all tables, in batches of a calendar year, which bounds the documents in memory. */
export async function* readRowsByYear(known: RecordProjection, models: ModelStore, now: Date): AsyncGenerator<DatasetRows> {
  const days = known.listDays();
  const last = days.at(-1)?.day ?? Number.NEGATIVE_INFINITY;
  for (let from = days[0]?.day ?? 0, before: Day; from <= last; from = before) {
    before = parseDay(`${new Date(from * DAY_MS).getUTCFullYear() + 1}-01-01`);
    yield await readRows(known, models, { from, before, now });
  }
}

async function readRows(
  known: RecordProjection,
  models: ModelStore,
  { from, before, now }: { from: Day; before: Day; now: Date },
): Promise<DatasetRows> {
  const isWithin = ({ day }: { day: Day }) => day >= from && day < before;
  const revealed = known.listAll().filter((doc) => doc.reveal !== null && isWithin(doc));
  const resolved = revealed.flatMap((doc) => toResolved(doc, now) ?? []);
  const resolvedDocs = resolved.map(({ doc }) => doc);
  const scored = await scoreForecasts(known, models, resolvedDocs);
  const forecasts = resolved.map((row, index) => ({ ...row, scores: toScores(scored[index]), move: scored[index].move }));
  const days = new Set(forecasts.map(({ doc }) => doc.day));
  const inputs = known.listDays().filter(isWithin);
  const modelsByDay = new Map(inputs.map(({ day, models: own }) => [day, own ?? []]));
  return {
    forecasts,
    scores: forecasts.flatMap((row) => toScoreRows(row, known.findScores(row.doc), modelsByDay.get(row.doc.day) ?? [])),
    inputs: inputs.filter(({ day }) => days.has(day)),
  };
}

/** The row of the champion, then one for each challenger that committed a distribution. */
function toScoreRows(
  { doc, scores }: Pick<ForecastRow, 'doc' | 'scores'>,
  found: DistributionScoresDoc | null,
  models: readonly DayModel[],
): ScoreRow[] {
  if (found === null) return [{ doc, modelVersion: doc.modelVersion, scores, committed: null }];
  return models.flatMap(({ name, modelVersion }) => {
    const own = found.models[name];
    if (own === undefined || modelVersion === null) return [];
    const comparison = found.comparisons.find(({ challenger }) => challenger === name) ?? null;
    const committed = { own, baselines: found.baselines, comparison };
    return [{ doc, modelVersion, scores: { ...scores, crps: own.crps, pit: own.pit }, committed }];
  });
}

/** Null unless its values and outcome are public under every policy. */
function toResolved(doc: ForecastDoc, now: Date): Omit<ForecastRow, 'scores' | 'move'> | null {
  if (!mayRead(doc, { caller: PUBLIC_CALLER, policy: 'resolution', now })) return null;
  const { values, resolution, attestation, reveal } = doc;
  if (values === null || resolution === null || attestation === null || reveal === null) return null;
  return { doc, values, resolution, attestation, reveal };
}

function toScores({ call, rose, pUp, climatology, distribution }: ScoredForecast) {
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
