import { z } from 'zod';
import { TIME } from '../../../../platform/validation/fields.ts';
import { TRACK_RECORD } from '../../../../record/schemas/track-record.ts';
import { NEXT_INTENT } from '../../forecast/copy-trade/trade-intent-schemas.ts';
import { REGIME_FIELDS } from '../../forecast/regime/schemas.ts';
import { PREMIUM_SIGNAL } from '../../forecast/signal/premium-schemas.ts';
import { DAILY_BRIEF } from '../../reports/brief-schemas.ts';
import { buildHeadMembers, SOLD_FORECAST } from './head-schemas.ts';
import { FULL_PROOF } from './proof-schemas.ts';

const PROOF = FULL_PROOF.describe('Everything that it takes to check the forecast on chain');
const { model, thresholds, categories } = PREMIUM_SIGNAL.shape;
const RECORD = TRACK_RECORD.shape.statistics.describe('What the record of this horizon is worth, over all its forecasts');

/** `svc_signal_with_proof`. */
export const SIGNAL_WITH_PROOF = z.object({ ...buildHeadMembers('signal_with_proof'), ...SOLD_FORECAST, proof: PROOF });

/** `svc_analysis_report`. */
export const ANALYSIS_REPORT = z.object({
  ...buildHeadMembers('analysis_report'),
  regime: z.object(REGIME_FIELDS).describe('The regime that holds, with its factors'),
  categories,
  inputs: z
    .array(
      z.object({
        series: z.string().describe('What it is'),
        source: z.string().describe('Where it comes from'),
        observedDay: z.iso.date().nullable().describe('Date of the newest observation that was used; null when it was missing or too old'),
        availableAt: TIME.nullable().describe('When that observation became known; null with it'),
      }),
    )
    .describe('What the forecasts were made from, as the attested metadata lists it'),
  horizons: z
    .array(
      z.object({
        ...SOLD_FORECAST,
        thresholds,
        model: model.unwrap().describe('The fit that the forecast was made with'),
        record: RECORD,
      }),
    )
    .describe('1, 2, 3 and 7 days'),
});

const { market, sizing, marketReason, contractSide, wager, entry, actionable, notActionableBecause } = NEXT_INTENT.shape;

/** `svc_alpha_brief`. */
export const ALPHA_BRIEF = z.object({
  ...buildHeadMembers('alpha_brief'),
  ...SOLD_FORECAST,
  proof: PROOF,
  regime: z.object(REGIME_FIELDS).describe('The regime that holds, with its factors'),
  stake: z
    .object({
      ...{ contractSide, market, sizing, marketReason, wager },
      entry: entry.nullable().describe('Limits of an entry; null on a day of HOLD'),
      ...{ actionable, notActionableBecause },
    })
    .describe('What follows for the prediction market: the market, the side, and the size of a stake by Kelly'),
  resolvedSince: z
    .object({
      since: TIME.describe('24 hours before `generatedAt`'),
      forecasts: z.array(DAILY_BRIEF.shape.resolved.element).describe('Forecasts whose outcome has come on chain since, by id'),
    })
    .describe('What was resolved since the brief of the day before'),
  risks: z.array(z.string()).describe('What speaks against acting on it'),
});

/** `svc_bitcoin_signal` of the agent commerce protocol. */
export const BITCOIN_SIGNAL = z.object({
  ...buildHeadMembers('bitcoin_signal'),
  ...SOLD_FORECAST,
  proof: PROOF,
  methodology: z
    .object({
      description: z.string().describe('The method in two sentences'),
      url: z.url().describe('The whole of it'),
      model: model.unwrap().describe('The fit that the forecast was made with'),
      thresholds,
    })
    .describe('How it was made'),
  record: RECORD,
});
