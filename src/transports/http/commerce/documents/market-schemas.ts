import { z } from 'zod';
import { derivativesSummaryReport } from '../../../../market/reports/derivatives/derivatives-summary.ts';
import { COUNT, TIME } from '../../../../platform/validation/fields.ts';
import { MARKET_CONTEXT } from '../../../../record/schemas/market-context.ts';
import { REGIME_FIELDS } from '../../forecast/regime/schemas.ts';
import { buildReportSchema } from '../../market/reports/schemas.ts';
import { buildHeadMembers } from './head-schemas.ts';

const FIGURE = z.object({
  id: z.string().describe('Name of the figure'),
  title: z.string().describe('What it is'),
  value: z.number().nullable().describe('The last value, in `unit`; null where nothing is known'),
  unit: z.string().describe('Unit of `value`'),
  change: z.number().nullable().describe('Its change, in `changeUnit`; null where none is told'),
  changeUnit: z.string().nullable().describe('Unit of `change`'),
  changeOver: z.string().nullable().describe('What the change is over, in words'),
  correlation: z
    .number()
    .min(-1)
    .max(1)
    .nullable()
    .describe("Pearson's, of its changes with bitcoin's log returns; null where none is told, or with too few pairs"),
  pairs: COUNT.nullable().describe('Pairs that the correlation is made of; null where none is told'),
  windowDays: COUNT.nullable().describe('Days that the pairs are from; null where none is told'),
  source: z.string().describe('Where it comes from'),
  observedAt: TIME.nullable().describe('When it was made or published; null when there never was a value'),
  ageSeconds: COUNT.nullable().describe('Seconds from `observedAt` to `generatedAt`'),
  stale: z.boolean().describe('True when it is missing or too old; the last good value is told all the same'),
  provisional: z.boolean().describe('True before the value is final'),
});

/** `svc_daily_macro_review`. */
export const DAILY_MACRO_REVIEW = z.object({
  ...buildHeadMembers('daily_macro_review'),
  price: z.array(FIGURE).describe('Bitcoin itself'),
  macro: z.array(FIGURE).describe('Dollar, equities, gold, PMI and VIX'),
  rates: z.array(FIGURE).describe('Policy rate, fed funds and yields'),
  flows: z.array(FIGURE).describe('Flows into US spot Bitcoin ETFs'),
  derivatives: z.array(FIGURE).describe('Funding, open interest, basis and volatility'),
  sentiment: z.array(FIGURE).describe('Mood of the market'),
  notes: z.array(z.string()).describe('What a reader should know before he believes the figures'),
});

const { asOf, price, sentiment, flows, macro, regime, missing } = MARKET_CONTEXT.shape;

/** `svc_market_context` of the agent commerce protocol. */
export const MARKET_CONTEXT_DOCUMENT = z.object({
  ...buildHeadMembers('market_context'),
  ...{ asOf, price, sentiment, flows, macro, regime },
  derivatives: buildReportSchema(derivativesSummaryReport)
    .nullable()
    .describe('Funding, open interest, basis and volatility; null when missing'),
  regimeDetail: z.object(REGIME_FIELDS).nullable().describe('The regime with its factors; null before the first'),
  missing,
});
