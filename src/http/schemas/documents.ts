import { z } from 'zod';
import { FEED_KINDS } from '../../market/feed.ts';
import { derivativesSummaryReport } from '../../market/reports/derivatives.ts';
import {
  ADDRESS,
  BYTES32,
  COUNT,
  DATE,
  HEX,
  listOf,
  namedObject,
  nullableObjectOf,
  objectOf,
  PROBABILITY,
  TIME,
} from '../../platform/validation.ts';
import { FORECAST_STATE, HORIZON } from '../../record/schemas/forecast.ts';
import { MARKET_CONTEXT, REGIME_DETAIL } from '../../record/schemas/market-context.ts';
import { ORACLE_SIGNAL, PREDICTION, PREMIUM_SIGNAL } from '../../record/schemas/signal.ts';
import { TRACK_RECORD } from '../../record/schemas/track-record.ts';
import { PREDICTION_VERIFICATION } from '../../record/schemas/verification.ts';
import { DAILY_BRIEF } from '../routes/briefs.ts';
import { NEXT_INTENT } from '../routes/copy-trade.ts';
import { CROWD_VS_ORACLE_REPLY } from '../routes/crowd.ts';
import { buildReportSchema } from '../routes/market.ts';

function buildHeadMembers<Kind extends string>(kind: Kind) {
  return {
    kind: z.literal(kind).describe('Document kind: its offering name without `svc_`'),
    title: z.string().describe('Title of the offering'),
    generatedAt: TIME.describe('When it was generated, and its reference time'),
    forecastId: z.string().nullable().describe('Id of the included 7-day forecast, `YYYY-MM-DD:7d`; null where none is'),
    attestationUid: BYTES32.nullable().describe('UID of its attestation; null where none is included or on chain yet'),
    source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
    marketKind: z.enum(FEED_KINDS).describe('Kind of market data; `simulated` is synthetic, `csv` recorded'),
    sentences: z.array(z.string()).describe('Summary in plain sentences'),
  };
}

/** A sold forecast with the opening of its commitment. */
const SOLD_FORECAST = {
  forecast: PREDICTION,
  quantiles: PREMIUM_SIGNAL.shape.quantiles,
};

/** Verifies a forecast on chain without this service. */
const FULL_PROOF = namedObject('FullProof', {
  commitment: BYTES32.describe('keccak256 of `encodedOpening`, on chain before the window opened'),
  encodedOpening: HEX.describe('Hashed bytes: salt and values, ABI-encoded, hex'),
  formula: z.string().describe('How the commitment follows from `forecast.opening`, in this order'),
  codes: objectOf('Codes of enumerations', {
    signal: objectOf('Codes of signals', {
      HOLD: z.literal(0).describe('HOLD'),
      BUY: z.literal(1).describe('BUY'),
      SELL: z.literal(2).describe('SELL'),
    }),
    direction: z.object({ UP: z.literal(1).describe('UP'), DOWN: z.literal(2).describe('DOWN') }).describe('Codes of directions'),
  }),
  chain: z.string().describe('Chain, CAIP-2, e.g. eip155:8453'),
  easContract: ADDRESS.describe('EAS contract; `getAttestation(bytes32 uid)` reads an attestation'),
  attester: ADDRESS.describe('Wallet of all attestations of this service'),
  prediction: objectOf('Content of the attestation, word by word', {
    schemaUid: BYTES32.describe('Schema UID'),
    schema: z.string().describe('Fields in encoding order, Solidity types'),
    words: objectOf('The eight committed words', {
      sequence: z.int().min(1).describe('Position in the record of this horizon, from 1'),
      day: COUNT.describe('Days since 1970-01-01'),
      horizonDays: z.int().min(1).describe('Days of the outcome window'),
      windowOpensAt: COUNT.describe('Open of the outcome window, Unix seconds'),
      resolvesAt: COUNT.describe('End of the outcome window, Unix seconds'),
      commitment: BYTES32.describe('Commitment that hides the values'),
      inputsDigest: BYTES32.describe('Digest of the inputs'),
      metadata: BYTES32.describe('sha2-256 of the public metadata'),
    }),
    data: HEX.describe('The words ABI-encoded: `data` of the attestation on chain, hex'),
    refUid: BYTES32.describe('Attestation of the previous day of this horizon; zero on the first day'),
  }),
  attestation: nullableObjectOf('Attestation on chain; null before', {
    uid: BYTES32.describe('UID'),
    txHash: BYTES32.describe('Transaction'),
    blockNumber: COUNT.describe('Block number'),
    blockTime: TIME.describe('Block time'),
    easscanUrl: z.url().nullable().describe('EAS explorer page; null on a local chain, and where no explorer is known'),
    verifyUrl: z.url().describe('URL where the service verifies it field by field'),
  }),
  metadata: objectOf('Public part of the inputs', {
    cid: z.string().describe('CIDv1 of the public metadata'),
    digest: BYTES32.describe('sha2-256 of its bytes, the last word'),
    url: z.url().describe('URL of the metadata'),
  }),
  merkle: objectOf('Merkle root, for compatibility', {
    root: z.null().describe('Always null: there is no tree'),
    note: z.string().describe('Why'),
  }),
  steps: z.array(z.string()).describe('Verification steps without trust in this service'),
});

const PROOF = FULL_PROOF.describe('Proof to verify the forecast on chain');
const { model, thresholds, categories } = PREMIUM_SIGNAL.shape;
const RECORD = TRACK_RECORD.shape.statistics.describe('Statistics of all forecasts of this horizon');

export const SIGNAL_WITH_PROOF = namedObject('SignalWithProof', {
  ...buildHeadMembers('signal_with_proof'),
  ...SOLD_FORECAST,
  proof: PROOF,
});

export const ANALYSIS_REPORT = namedObject('AnalysisReport', {
  ...buildHeadMembers('analysis_report'),
  regime: REGIME_DETAIL.describe('Current regime with its factors'),
  categories,
  inputs: listOf('Inputs of the forecasts, as in the attested metadata', {
    series: z.string().describe('What it is'),
    source: z.string().describe('Source'),
    observedDay: z.iso.date().nullable().describe('Date of the newest observation used; null where missing or too old'),
    availableAt: TIME.nullable().describe('When that observation became available; null with it'),
  }),
  horizons: listOf('1, 2, 3 and 7 days', {
    ...SOLD_FORECAST,
    thresholds,
    model: model.unwrap().describe('Fitted model of the forecast'),
    record: RECORD,
  }),
});

const { market, sizing, marketReason, contractSide, wager, entry, actionable, notActionableBecause } = NEXT_INTENT.shape;

export const ALPHA_BRIEF = namedObject('AlphaBrief', {
  ...buildHeadMembers('alpha_brief'),
  ...SOLD_FORECAST,
  proof: PROOF,
  regime: REGIME_DETAIL.describe('Current regime with its factors'),
  stake: objectOf('Prediction-market position: market, side and Kelly stake', {
    ...{ contractSide, market, sizing, marketReason, wager },
    entry: entry.nullable().describe('Entry limits; null on a HOLD day'),
    ...{ actionable, notActionableBecause },
  }),
  resolvedSince: objectOf('Forecasts resolved since the previous brief', {
    since: TIME.describe('24 hours before `generatedAt`'),
    forecasts: z.array(DAILY_BRIEF.shape.resolved.element).describe('Forecasts resolved on chain since, by id'),
  }),
  risks: z.array(z.string()).describe('Reasons not to act on it'),
});

export const BITCOIN_SIGNAL = namedObject('BitcoinSignal', {
  ...buildHeadMembers('bitcoin_signal'),
  ...SOLD_FORECAST,
  proof: PROOF,
  methodology: objectOf('Methodology', {
    description: z.string().describe('The method in two sentences'),
    url: z.url().describe('Full methodology'),
    model: model.unwrap().describe('Fitted model of the forecast'),
    thresholds,
  }),
  record: RECORD,
});

const { venue, quotesAreOurs, totals, weeks, count, disagreements, disagreementTotals, byDifference, notes } = CROWD_VS_ORACLE_REPLY.shape;

const HORIZON_DAYS = z.int().min(1).max(7).describe('Horizon in days: 1, 2, 3 or 7');
const MODEL_VERSION = z.string().describe('Model version');
const VARIANCE = z.number().min(0);

const CROWD_PROOF = z.object({
  predictionId: z.string().describe('Forecast id, `YYYY-MM-DD:<days>d`'),
  status: FORECAST_STATE.status,
  predictionUid: BYTES32.nullable().describe('UID of the attestation with its commitment; null until it is on chain'),
  resolutionUid: BYTES32.nullable().describe('UID of the attestation of its outcome; null until it is on chain'),
  commitment: BYTES32.describe('keccak256 of the encoded opening; zero where nothing was forecast'),
  opening: ORACLE_SIGNAL.shape.opening.nullable().describe('Opening, for `byHand.formula`; null where nothing was forecast'),
});

const EVIDENCE = z.object({
  bases: listOf('What is committed on chain, derived from the model, or only stated', {
    basis: z.enum(['chain', 'model', 'venue']).describe('Basis of these parts'),
    parts: z.array(z.string()).describe('Parts'),
    note: z.string().describe('What that basis is worth'),
  }),
  formula: z.array(z.string()).describe("How the oracle's probability is computed, step by step"),
  byHand: PREDICTION_VERIFICATION.shape.byHand,
  weeks: listOf('The same weeks in the same order', {
    weekId: z.string().describe('ISO week of the expiry'),
    date: DATE.describe('Day of the compared forecast'),
    proofs: z
      .array(CROWD_PROOF)
      .describe('Proofs of the 7-day forecast of the day, and of the forecast whose P(up) was used where that differs'),
    probability: nullableObjectOf("Inputs of the oracle's probability; null where the day is not in the record", {
      strike: z.number().positive().describe('Strike, USD'),
      expiresAt: TIME.describe('Expiry of the market'),
      at: TIME.describe('When the probability was computed'),
      spot: z.number().positive().describe('BTC/USD at signal time: `btcPriceCents` of the opening'),
      horizonDays: HORIZON_DAYS,
      pUp: PROBABILITY.describe('Unrounded P(up) of the forecast; `pUpBps` of its opening in basis points'),
      v94: VARIANCE.describe('Daily variance of the log return, exponentially weighted with 0.94'),
      v99: VARIANCE.describe('The same with 0.99'),
      modelVersion: MODEL_VERSION,
      oracleProbability: PROBABILITY.nullable().describe('Result by `formula`, four digits; as in `weeks`'),
    }),
  }),
  models: listOf('Models that the weeks reference by `modelVersion` and `horizonDays`', {
    modelVersion: MODEL_VERSION,
    horizonDays: HORIZON_DAYS,
    residualQuantiles: z
      .array(z.number().describe('Quantile in units of the scale'))
      .length(199)
      .describe('Quantiles at 0.005, 0.010 to 0.995 of past log returns over their scale'),
  }),
});

export const CROWD_VS_ORACLE = namedObject('CrowdVsOracle', {
  ...buildHeadMembers('crowd_vs_oracle'),
  running: weeks.element.nullable().describe('Newest running week; null before it is priced'),
  ...{ venue, quotesAreOurs, totals, weeks, count, disagreements, disagreementTotals, byDifference, notes },
  evidence: EVIDENCE.describe('Evidence to recompute the comparison, and the basis of each part'),
});

const FIGURE = namedObject('Figure', {
  id: z.string().describe('Id of the figure'),
  title: z.string().describe('What it is'),
  value: z.number().nullable().describe('Latest value in `unit`; null where unknown'),
  unit: z.string().describe('Unit of `value`'),
  change: z.number().nullable().describe('Change in `changeUnit`; null where not reported'),
  changeUnit: z.string().nullable().describe('Unit of `change`'),
  changeOver: z.string().nullable().describe('Period of the change'),
  correlation: z
    .number()
    .min(-1)
    .max(1)
    .nullable()
    .describe('Pearson correlation of its changes with bitcoin log returns; null where not reported, or with too few pairs'),
  pairs: COUNT.nullable().describe('Pairs behind the correlation; null where not reported'),
  windowDays: COUNT.nullable().describe('Days that the pairs span; null where not reported'),
  source: z.string().describe('Source'),
  observedAt: TIME.nullable().describe('When it was observed or published; null where there never was a value'),
  ageSeconds: COUNT.nullable().describe('Seconds from `observedAt` to `generatedAt`'),
  stale: z.boolean().describe('True where missing or too old; the last valid value is still returned'),
  provisional: z.boolean().describe('True until the value is final'),
});

export const DAILY_MACRO_REVIEW = namedObject('DailyMacroReview', {
  ...buildHeadMembers('daily_macro_review'),
  price: z.array(FIGURE).describe('Bitcoin'),
  macro: z.array(FIGURE).describe('Dollar, equities, gold, PMI and VIX'),
  rates: z.array(FIGURE).describe('Policy rate, fed funds and yields'),
  flows: z.array(FIGURE).describe('US spot Bitcoin ETF flows'),
  derivatives: z.array(FIGURE).describe('Funding, open interest, basis and volatility'),
  sentiment: z.array(FIGURE).describe('Sentiment'),
  notes: z.array(z.string()).describe('Caveats for the figures'),
});

const { asOf, price, sentiment, flows, macro, regime, missing } = MARKET_CONTEXT.shape;

export const MARKET_CONTEXT_DOCUMENT = namedObject('MarketContextDocument', {
  ...buildHeadMembers('market_context'),
  ...{ asOf, price, sentiment, flows, macro, regime },
  derivatives: buildReportSchema(derivativesSummaryReport)
    .nullable()
    .describe('Funding, open interest, basis and volatility; null when missing'),
  regimeDetail: REGIME_DETAIL.nullable().describe('Regime with its factors; null before the first'),
  missing,
});

const COLUMNS = z.array(z.object({ name: z.string().describe('Column name'), description: z.string().describe('Content with its unit') }));

const ROWS = z.array(z.array(z.union([z.string(), z.number(), z.null()])));

const TABLE = z.object({
  columns: COLUMNS.describe('Columns, in the order of the cells'),
  rows: ROWS.describe('One array per row'),
});

export const VERIFIED_TRACK_RECORD = z.object({
  ...buildHeadMembers('verified_track_record'),
  audit: objectOf('What a verifier needs to recompute the record', {
    ...PREDICTION_VERIFICATION.shape.byHand.shape,
    schemaRegistry: ADDRESS.describe('EAS schema registry'),
    firstBlock: COUNT.nullable().describe("Block of the first attestation: the attester's events are complete from here; null before it"),
    firstDate: DATE.describe('First day of the record, UTC'),
    resolutionRule: z.string().describe('How an outcome follows from two closes'),
    priceRule: z.string().describe('How a close is computed from venue prices'),
    priceVenues: z.array(z.string()).describe('Venues of the closes'),
  }),
  columns: COLUMNS.describe('Columns of `horizons` rows, in the order of the cells'),
  horizons: listOf('The whole record of 1, 2, 3 and 7 days', {
    horizon: HORIZON.describe('Days of the outcome window'),
    statistics: TRACK_RECORD.shape.statistics.describe('Counts, accuracy and their significance, over all rows'),
    rows: ROWS.describe('All forecasts by sequence, HOLD, void, missed and pending included'),
  }),
  days: TABLE.describe('Shared facts of all forecasts of a day, by date'),
  transactions: TABLE.describe('Attestation transactions; rows of `horizons` reference them by index, from 0'),
});
