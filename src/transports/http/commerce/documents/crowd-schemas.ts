import { z } from 'zod';
import { BYTES32, DATE, PROBABILITY, TIME } from '../../../../platform/validation/fields.ts';
import { FORECAST_STATE } from '../../../../record/schemas/forecast.ts';
import { ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { PREDICTION_VERIFICATION } from '../../../../record/schemas/prediction-verification.ts';
import { CROWD_VS_ORACLE_REPLY } from '../../market/crowd/schemas.ts';
import { buildHeadMembers } from './head-schemas.ts';

const { venue, quotesAreOurs, totals, weeks, count, disagreements, disagreementTotals, notes } = CROWD_VS_ORACLE_REPLY.shape;

const HORIZON_DAYS = z.int().min(1).max(7).describe('Days of the horizon: 1, 2, 3 or 7');
const MODEL_VERSION = z.string().describe('Version of the model');
const VARIANCE = z.number().min(0);

const PROOF = z.object({
  predictionId: z.string().describe('Id of the forecast, `YYYY-MM-DD:<days>d`'),
  status: FORECAST_STATE.status,
  predictionUid: BYTES32.nullable().describe('Uid of the attestation that carries its commitment; null until it is on chain'),
  resolutionUid: BYTES32.nullable().describe('Uid of the attestation of its outcome; null until that is on chain'),
  commitment: BYTES32.describe('keccak256 of the encoded opening; zero when nothing was forecast'),
  opening: ORACLE_SIGNAL.shape.opening
    .nullable()
    .describe('What it is recomputed from by `byHand.formula`; null when nothing was forecast'),
});

const INPUTS = z.object({
  strike: z.number().positive().describe('The strike, US dollars'),
  expiresAt: TIME.describe('When the market expires'),
  at: TIME.describe('When the probability was computed and the time to expiry begins'),
  spot: z.number().positive().describe('BTC/USD at signal time, US dollars: `btcPriceCents` of the opening'),
  horizonDays: HORIZON_DAYS,
  pUp: PROBABILITY.describe('P(up) of the forecast of that horizon, unrounded; `pUpBps` of its opening is the same in basis points'),
  v94: VARIANCE.describe('Daily variance of the log return, exponentially weighted with 0.94'),
  v99: VARIANCE.describe('The same with 0.99'),
  modelVersion: MODEL_VERSION,
  oracleProbability: PROBABILITY.nullable().describe('What follows from all of it by `formula`, four digits; as in `weeks`'),
});

const EVIDENCE = z.object({
  bases: z
    .array(
      z.object({
        basis: z.enum(['chain', 'model', 'venue']).describe('What these parts rest on'),
        parts: z.array(z.string()).describe('The parts'),
        note: z.string().describe('What that is worth'),
      }),
    )
    .describe('What is committed on chain, what follows from the model, and what is only said'),
  formula: z.array(z.string()).describe("How the oracle's probability is computed, step by step"),
  byHand: PREDICTION_VERIFICATION.shape.byHand,
  weeks: z
    .array(
      z.object({
        weekId: z.string().describe('ISO week of the expiry'),
        date: DATE.describe('The day whose forecast is compared'),
        proofs: z
          .array(PROOF)
          .describe('Of the 7-day forecast of the day, and of the one whose P(up) the probability rests on where that is another'),
        probability: INPUTS.nullable().describe("What the oracle's probability was computed from; null where the day is not in the record"),
      }),
    )
    .describe('The same weeks in the same order'),
  models: z
    .array(
      z.object({
        modelVersion: MODEL_VERSION,
        horizonDays: HORIZON_DAYS,
        residualQuantiles: z
          .array(z.number().describe('Quantile, in units of the scale'))
          .length(199)
          .describe('Quantiles at 0.005, 0.010 to 0.995 of past log returns over their scale'),
      }),
    )
    .describe('What the weeks name by `modelVersion` and `horizonDays`'),
});

/** `svc_crowd_vs_oracle`, of purchases and of the agent commerce protocol. */
export const CROWD_VS_ORACLE = z.object({
  ...buildHeadMembers('crowd_vs_oracle'),
  running: weeks.element.nullable().describe('The newest week that is not over; null before it was priced'),
  ...{ venue, quotesAreOurs, totals, weeks, count, disagreements, disagreementTotals, notes },
  evidence: EVIDENCE.describe('What it takes to compute the comparison again, and what each part of it rests on'),
});
