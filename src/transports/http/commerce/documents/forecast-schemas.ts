import { z } from 'zod';
import { listOf, objectOf } from '../../../../platform/validation/described.ts';
import { TIME } from '../../../../platform/validation/fields.ts';
import { TRACK_RECORD } from '../../../../record/schemas/track-record.ts';
import { NEXT_INTENT } from '../../forecast/copy-trade/trade-intent-schemas.ts';
import { REGIME_FIELDS } from '../../forecast/regime/schemas.ts';
import { PREMIUM_SIGNAL } from '../../forecast/signal/premium-schemas.ts';
import { DAILY_BRIEF } from '../../reports/brief-schemas.ts';
import { buildHeadMembers, SOLD_FORECAST } from './head-schemas.ts';
import { FULL_PROOF } from './proof-schemas.ts';

const PROOF = FULL_PROOF.describe('Proof to verify the forecast on chain');
const { model, thresholds, categories } = PREMIUM_SIGNAL.shape;
const RECORD = TRACK_RECORD.shape.statistics.describe('Statistics of all forecasts of this horizon');

export const SIGNAL_WITH_PROOF = z.object({ ...buildHeadMembers('signal_with_proof'), ...SOLD_FORECAST, proof: PROOF });

export const ANALYSIS_REPORT = z.object({
  ...buildHeadMembers('analysis_report'),
  regime: z.object(REGIME_FIELDS).describe('Current regime with its factors'),
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

export const ALPHA_BRIEF = z.object({
  ...buildHeadMembers('alpha_brief'),
  ...SOLD_FORECAST,
  proof: PROOF,
  regime: z.object(REGIME_FIELDS).describe('Current regime with its factors'),
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

export const BITCOIN_SIGNAL = z.object({
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
