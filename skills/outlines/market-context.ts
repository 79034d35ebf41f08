import { z } from 'zod';
import { DATE, TIME } from '../../src/platform/validation/fields.ts';
import { REGIME } from '../../src/record/schemas/forecast.ts';
import { MARKET_CONTEXT } from '../../src/record/schemas/market-context.ts';
import { defineOutline } from './outline.ts';

const MAX_MISSING = 6;

const NUMBER = z.number().nullable();
const AGE = { ageSeconds: z.int().nullable(), stale: z.boolean() };

const figure = () => z.object({ value: NUMBER, correlation: NUMBER, stale: z.boolean() });

export const MARKET_CONTEXT_OUTLINE = defineOutline(MARKET_CONTEXT, {
  schema: z.object({
    asOf: TIME,
    source: z.string(),
    kind: MARKET_CONTEXT.shape.kind.describe('`simulated`: no real market'),
    price: z.object({ btcPrice: z.number(), change24h: NUMBER.describe('Percent'), ...AGE }).nullable(),
    sentiment: z
      .object({ fearGreed: z.int().nullable(), fearGreedLabel: z.string().nullable(), attribution: z.string().nullable(), ...AGE })
      .nullable(),
    flows: z
      .object({ lastDay: NUMBER, lastDayDate: DATE.nullable(), etfFlows7d: NUMBER, etfFlows30d: NUMBER, ...AGE })
      .nullable()
      .describe('Net, USD'),
    macro: z
      .object({ dxy: figure(), sp500: figure(), goldBtcRatio: figure(), ismPmi: figure() })
      .nullable()
      .describe('Values with their correlation to bitcoin'),
    regime: z.object({ name: REGIME, riskLevel: z.string(), date: DATE, stale: z.boolean() }).nullable(),
    missing: z.array(z.object({ part: z.string(), reason: z.string() })),
  }),
  cut: ({ missing, ...rest }) => ({ ...rest, missing: missing.slice(0, MAX_MISSING) }),
});
