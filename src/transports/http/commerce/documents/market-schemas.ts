import { z } from 'zod';
import { derivativesSummaryReport } from '../../../../market/reports/derivatives/derivatives-summary.ts';
import { COUNT, TIME } from '../../../../platform/validation/fields.ts';
import { MARKET_CONTEXT } from '../../../../record/schemas/market-context.ts';
import { REGIME_FIELDS } from '../../forecast/regime/schemas.ts';
import { buildReportSchema } from '../../market/reports/schemas.ts';
import { buildHeadMembers } from './head-schemas.ts';

const FIGURE = z.object({
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

export const DAILY_MACRO_REVIEW = z.object({
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

export const MARKET_CONTEXT_DOCUMENT = z.object({
  ...buildHeadMembers('market_context'),
  ...{ asOf, price, sentiment, flows, macro, regime },
  derivatives: buildReportSchema(derivativesSummaryReport)
    .nullable()
    .describe('Funding, open interest, basis and volatility; null when missing'),
  regimeDetail: z.object(REGIME_FIELDS).nullable().describe('Regime with its factors; null before the first'),
  missing,
});
