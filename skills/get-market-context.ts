import { z } from 'zod';
import type { Context } from '../src/context.ts';
import { DATE, nullableObjectOf, sanitizeText, TIME } from '../src/platform/validation.ts';
import { getCurrentRegime, listRegimes, readMarketContext } from '../src/record/market.ts';
import { REGIME } from '../src/record/schemas/forecast.ts';
import { CONTEXT_SECTIONS, MARKET_CONTEXT, type MarketContextReply } from '../src/record/schemas/market-context.ts';
import { defineOutline, defineSkill, formatAgeSeconds, formatInstant } from './skill.ts';
import { findNamed } from './text.ts';

const MAX_MISSING = 6;

const NUMBER = z.number().nullable();
const AGE = { ageSeconds: z.int().nullable(), stale: z.boolean() };

const figure = () => z.object({ value: NUMBER, correlation: NUMBER, stale: z.boolean() });

const MARKET_CONTEXT_OUTLINE = defineOutline(MARKET_CONTEXT, {
  schema: z.object({
    asOf: TIME,
    source: z.string(),
    kind: MARKET_CONTEXT.shape.kind.describe('`simulated`: no real market'),
    price: z.object({ btcPrice: z.number(), change24h: NUMBER.describe('Percent'), ...AGE }).nullable(),
    sentiment: z
      .object({ fearGreed: z.int().nullable(), fearGreedLabel: z.string().nullable(), attribution: z.string().nullable(), ...AGE })
      .nullable(),
    flows: nullableObjectOf('Net, USD', { lastDay: NUMBER, lastDayDate: DATE.nullable(), etfFlows7d: NUMBER, etfFlows30d: NUMBER, ...AGE }),
    macro: nullableObjectOf('Values with their correlation to bitcoin', {
      dxy: figure(),
      sp500: figure(),
      goldBtcRatio: figure(),
      ismPmi: figure(),
    }),
    regime: z.object({ name: REGIME, riskLevel: z.string(), date: DATE, stale: z.boolean() }).nullable(),
    missing: z.array(z.object({ part: z.string(), reason: z.string() })),
  }),
  cut: ({ missing, ...rest }) => ({ ...rest, missing: missing.slice(0, MAX_MISSING) }),
});

const SECTION = z.enum(CONTEXT_SECTIONS, { error: `must be one of ${CONTEXT_SECTIONS.join(', ')}` });

const SECTION_PATTERNS: Record<z.infer<typeof SECTION>, RegExp> = {
  price: /\b(?:price|cost|worth|trading at|how much)\b/,
  sentiment: /\b(?:fear|greed|sentiment)\b/,
  flows: /\b(?:etfs?|inflows?|outflows?|flows?)\b/,
  macro: /\b(?:macro|dxy|dollar|s&p|sp ?500|stocks|gold|pmi)\b/,
  regime: /\bregime\b/,
};

export const getMarketContext = defineSkill({
  id: 'get_market_context',
  title: 'Context of the bitcoin market',
  summary: 'Price, sentiment, ETF flows, macro figures and market regime, each with its source and age',
  description:
    'Bitcoin market data: price with 24-hour change, Fear & Greed index, net flows into US spot ETFs over 1, 7 and 30 days, dollar index, S&P 500, gold and ISM PMI with their correlations, and the market regime. Each figure has source, time, age and a stale flag; missing ones are null with a reason. Contains no forecast. `kind` is live, recorded or simulated.',
  question: 'the market, without a forecast.',
  tags: ['bitcoin', 'market data', 'sentiment', 'ETF flows', 'macro', 'regime'],
  examples: [
    { say: 'What does the bitcoin market look like right now?', input: {} },
    { say: 'What is the BTC price and the Fear & Greed index?', input: { include: ['price', 'sentiment'] } },
    { say: 'How do the dollar and stocks move with bitcoin these days?', input: { include: ['macro'] } },
  ],
  fromText: {
    words: [
      [3, /\b(?:fear|greed|sentiment|etfs?|inflows?|outflows?|macro|dxy|dollar|s&p|sp ?500|stocks|gold|pmi|regime)\b/],
      [3, /\bmarkets?\b/],
      [2, SECTION_PATTERNS.price],
      [2, /\bcontext\b/],
    ],
    read(text) {
      const include = findNamed(text, SECTION_PATTERNS);
      return include.length === 0 ? {} : { include };
    },
  },
  input: z.strictObject({
    include: z
      .array(SECTION)
      .min(1, `must name at least one of ${CONTEXT_SECTIONS.join(', ')}`)
      .max(CONTEXT_SECTIONS.length, `must name at most ${CONTEXT_SECTIONS.length} sections`)
      .default([...CONTEXT_SECTIONS])
      .describe('Sections to return'),
  }),
  output: MARKET_CONTEXT,
  outline: MARKET_CONTEXT_OUTLINE,
  tier: 'public',
  offering: null,
  freshness: { description: 'the price each minute, sentiment and flows once a day, macro figures on working days', seconds: 60 },
  cost: 'normal',
  errors: [],
  run: ({ include }, context) => readMarketContext(context, include),
  formatText(context) {
    const { price, regime } = context;
    return [
      `Market data as of ${formatInstant(context.asOf)}, ${KIND_PHRASES[context.kind]} (${sanitizeText(context.source, 60)}). Contains no forecast.`,
      price && `Bitcoin: ${price.btcPrice} USD, 24 h change ${formatPercentChange(price.change24h)} (${formatAge(price)}).`,
      formatSentimentLine(context),
      formatFlowsLine(context),
      formatMacroLine(context),
      regime && `Regime of ${regime.date}: ${regime.name}, risk ${regime.riskLevel}${regime.stale ? ', STALE' : ''}.`,
      formatMissingLine(context),
    ]
      .filter((line) => line !== null)
      .join('\n');
  },
});

/** The regime of the context, as the interface has it (section 2.4). @throws OracleError STEP_WAITING before the first */
export const readRegime = (context: Context) => getCurrentRegime(context, context.now());

export const readRegimeHistory = ({ record }: Context, limit: number) => listRegimes(record, limit);

const KIND_PHRASES: Record<MarketContextReply['kind'], string> = {
  live: 'live',
  csv: 'from recorded files',
  simulated: 'of a simulated market',
};

const MAX_LISTED = 2;

const formatAge = ({ stale, ageSeconds }: { stale: boolean; ageSeconds: number | null }) =>
  `${ageSeconds === null ? 'never observed' : `${formatAgeSeconds(ageSeconds)} old`}${stale ? ', STALE' : ''}`;

const formatPercentChange = (value: number | null) => (value === null ? 'unknown' : `${value > 0 ? '+' : ''}${value} %`);

const formatMillions = (usd: number | null) => (usd === null ? 'unknown' : `${(usd / 1e6).toFixed(1)} million USD`);

function formatSentimentLine({ sentiment }: MarketContextReply): string | null {
  if (sentiment === null) return null;
  const { fearGreed, fearGreedLabel, attribution } = sentiment;
  const label = fearGreedLabel === null ? '' : `, ${fearGreedLabel}`;
  return `Fear & Greed: ${fearGreed ?? 'unknown'}${label} (${formatAge(sentiment)}).${attribution === null ? '' : ` ${attribution}.`}`;
}

function formatFlowsLine({ flows }: MarketContextReply): string | null {
  if (flows === null) return null;
  const { lastDay, lastDayDate, etfFlows7d, etfFlows30d } = flows;
  const amounts = [`${lastDayDate ?? 'last day'} ${formatMillions(lastDay)}`, `7 days ${formatMillions(etfFlows7d)}`];
  return `US spot ETF net flows: ${amounts.join(', ')}, 30 days ${formatMillions(etfFlows30d)} (${formatAge(flows)}).`;
}

function formatMacroLine({ macro }: MarketContextReply): string | null {
  if (macro === null) return null;
  const figures = { 'dollar index': macro.dxy, 'S&P 500': macro.sp500, gold: macro.goldBtcRatio, 'ISM PMI': macro.ismPmi };
  const lines = Object.entries(figures).map(
    ([name, { correlation, stale }]) => `${name} ${correlation ?? 'unknown'}${stale ? ' (STALE)' : ''}`,
  );
  return `Correlations with bitcoin: ${lines.join(', ')}.`;
}

function formatMissingLine({ missing }: MarketContextReply): string | null {
  if (missing.length === 0) return null;
  const listed = missing.slice(0, MAX_LISTED).map(({ part, reason }) => `${part} (${sanitizeText(reason, 60)})`);
  const more = missing.length > MAX_LISTED ? ` and ${missing.length - MAX_LISTED} more` : '';
  return `Missing: ${listed.join('; ')}${more}.`;
}
