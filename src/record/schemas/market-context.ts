import { z } from 'zod';
import { RISK_LEVELS } from '../../forecast/regime/regime.ts';
import { FEED_KINDS } from '../../market/feed.ts';
import { FEAR_GREED_LABELS } from '../../market/series/fear-greed-label.ts';
import { COUNT, DATE, TIME } from '../../platform/validation/fields.ts';
import { REGIME } from './forecast.ts';

export const CONTEXT_SECTIONS = ['price', 'sentiment', 'flows', 'macro', 'regime'] as const;

export type ContextSection = (typeof CONTEXT_SECTIONS)[number];

/** Provenance of one figure or group of figures. */
const ORIGIN = {
  source: z.string().describe('Where it comes from'),
  observedAt: TIME.nullable().describe('When it was made or published; null when there never was a value'),
  ageSeconds: COUNT.nullable().describe('Seconds from `observedAt` to `asOf`'),
  stale: z.boolean().describe('True when it is missing or too old; the last good value is told all the same'),
};

const PRICE = z.object({
  btcPrice: z.number().describe('BTC/USD'),
  change24h: z.number().nullable().describe('Change against 24 hours before, in percent; null where the source cannot tell'),
  currency: z.literal('USD').describe('Currency of the price'),
  ...ORIGIN,
});

const SENTIMENT = z.object({
  fearGreed: z.int().min(0).max(100).nullable().describe('Crypto Fear & Greed index, 0 (fear) to 100 (greed); null before the first value'),
  fearGreedLabel: z.enum(FEAR_GREED_LABELS).nullable().describe('Its label'),
  date: DATE.nullable().describe('The day that the value is of, UTC'),
  attribution: z.string().nullable().describe('The publisher, who asks to be named; null where the data is not live'),
  ...ORIGIN,
});

const FLOW = z.number().nullable();

const FLOWS = z.object({
  etfFlows7d: FLOW.describe(
    'Net flow into US spot Bitcoin ETFs of the last 7 calendar days, USD, outflows negative; null without a figure',
  ),
  etfFlows30d: FLOW.describe('The same of the last 30 calendar days, USD; null without a figure'),
  lastDay: FLOW.describe('The same of the last day with a figure, USD; null before the first'),
  lastDayDate: DATE.nullable().describe('That day, UTC'),
  provisional: z.boolean().describe('True until noon UTC of the day after: funds report late'),
  ...ORIGIN,
});

const macroFigure = (unit: string) =>
  z.object({
    value: z.number().nullable().describe(`The last value, ${unit}; null before the first`),
    correlation: z
      .number()
      .min(-1)
      .max(1)
      .nullable()
      .describe("Pearson's, of its changes with bitcoin's log returns, -1 to 1; null with too few pairs"),
    pairs: COUNT.describe('Pairs of changes that the correlation is made of'),
    windowDays: COUNT.describe('Days up to the last value that the pairs are from'),
    date: DATE.nullable().describe('The day of the value, UTC'),
    provisional: z.boolean().describe('True before the value is final'),
    ...ORIGIN,
  });

const CHANGE = z.number().nullable().describe('Change over the last five observations, in percent; null with fewer');

const MACRO = z.object({
  dxy: macroFigure('index points').extend({ change5d: CHANGE }).describe('US dollar index'),
  sp500: macroFigure('index points').extend({ change5d: CHANGE }).describe('S&P 500'),
  goldBtcRatio: macroFigure('bitcoins an ounce').describe(
    "An ounce of gold in bitcoins; the correlation is that of gold's price in US dollars",
  ),
  ismPmi: macroFigure('index points').describe('ISM manufacturing PMI, one value a month'),
});

const REGIME_NOW = z.object({
  name: REGIME.describe('The market regime that holds'),
  description: z.string().describe('What it means, in a sentence'),
  riskLevel: z.enum(RISK_LEVELS).describe('Its risk'),
  date: DATE.describe('Day of its last evaluation, UTC'),
  ...ORIGIN,
});

const MISSING = z.object({
  part: z.string().describe('What is null, e.g. `price` or `macro.dxy.value`'),
  reason: z.string().describe('Why'),
});

/** Public: it contains no forecast. */
export const MARKET_CONTEXT = z.object({
  asOf: TIME.describe('The instant that all of it is about'),
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
  kind: z.enum(FEED_KINDS).describe('Kind of market data; `simulated` is a made-up market, `csv` a recorded one'),
  include: z.array(z.enum(CONTEXT_SECTIONS)).describe('The sections that were asked for; the others are null'),
  price: PRICE.nullable().describe('Price of a bitcoin; null when not asked for, or missing'),
  sentiment: SENTIMENT.nullable().describe('Mood of the market; null when not asked for, or missing'),
  flows: FLOWS.nullable().describe('Flows into funds; null when not asked for, or missing'),
  macro: MACRO.nullable().describe(
    'Macro figures, and how their changes correlate with those of bitcoin; null when not asked for, or missing',
  ),
  regime: REGIME_NOW.nullable().describe('The regime by this service, a description and no forecast; null when not asked for, or missing'),
  missing: z.array(MISSING).describe('What was asked for and is null, and why; empty when everything is there'),
});

export type MarketContextReply = z.input<typeof MARKET_CONTEXT>;
