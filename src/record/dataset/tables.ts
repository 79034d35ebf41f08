import { BASELINES } from '../../forecast/baselines/baselines.ts';
import { formatDay } from '../../forecast/day.ts';
import { roundTo } from '../../platform/round.ts';
import { fromCents } from '../forecast-doc.ts';
import { toCommittedProbabilities } from '../forecast-visibility.ts';
import type { ForecastRow, InputRow, ScoreRow } from './rows.ts';
import type { DatasetColumn, DatasetTable } from './table.ts';

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
  { name: 'attestedAt', type: 'timestamp', description: 'Block time of the commitment', value: ({ attestation }) => attestation.at },
  { name: 'revealedAt', type: 'timestamp', description: 'Block time of the resolution', value: ({ reveal }) => reveal.at },
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
