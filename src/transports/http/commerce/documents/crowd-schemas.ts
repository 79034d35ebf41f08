import { z } from 'zod';
import { listOf } from '../../../../platform/validation/described.ts';
import { BYTES32, DATE, PROBABILITY, TIME } from '../../../../platform/validation/fields.ts';
import { FORECAST_STATE } from '../../../../record/schemas/forecast.ts';
import { ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { PREDICTION_VERIFICATION } from '../../../../record/schemas/prediction-verification.ts';
import { CROWD_VS_ORACLE_REPLY } from '../../market/crowd/schemas.ts';
import { buildHeadMembers } from './head-schemas.ts';

const { venue, quotesAreOurs, totals, weeks, count, disagreements, disagreementTotals, notes } = CROWD_VS_ORACLE_REPLY.shape;

const HORIZON_DAYS = z.int().min(1).max(7).describe('Horizon in days: 1, 2, 3 or 7');
const MODEL_VERSION = z.string().describe('Model version');
const VARIANCE = z.number().min(0);

const PROOF = z.object({
  predictionId: z.string().describe('Forecast id, `YYYY-MM-DD:<days>d`'),
  status: FORECAST_STATE.status,
  predictionUid: BYTES32.nullable().describe('UID of the attestation with its commitment; null until it is on chain'),
  resolutionUid: BYTES32.nullable().describe('UID of the attestation of its outcome; null until it is on chain'),
  commitment: BYTES32.describe('keccak256 of the encoded opening; zero where nothing was forecast'),
  opening: ORACLE_SIGNAL.shape.opening.nullable().describe('Opening, for `byHand.formula`; null where nothing was forecast'),
});

const INPUTS = z.object({
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
    proofs: z.array(PROOF).describe('Proofs of the 7-day forecast of the day, and of the forecast whose P(up) was used where that differs'),
    probability: INPUTS.nullable().describe("Inputs of the oracle's probability; null where the day is not in the record"),
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

export const CROWD_VS_ORACLE = z.object({
  ...buildHeadMembers('crowd_vs_oracle'),
  running: weeks.element.nullable().describe('Newest running week; null before it is priced'),
  ...{ venue, quotesAreOurs, totals, weeks, count, disagreements, disagreementTotals, notes },
  evidence: EVIDENCE.describe('Evidence to recompute the comparison, and the basis of each part'),
});
