import { z } from 'zod';
import { CIRCUIT_STATES } from '../../../../market/live/providers/provider.ts';
import { PROVIDER_IDS } from '../../../../market/live/providers/providers.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { COUNT, DATE, PROBABILITY, SUCCESS } from '../../../../platform/validation/fields.ts';

const SETUP = z
  .object({
    what: z.string().describe('What the start is at, in words'),
    done: COUNT.nullable().describe('How much of it is done; null where that is not counted'),
    total: COUNT.nullable().describe('Of how much; null where that is not counted'),
  })
  .nullable()
  .describe('What is left of the start; null once all of it is done');

export type SetupMember = z.output<typeof SETUP>;

const RUNNING = z.object({
  status: z.literal('ok').describe('The process is alive'),
  version: z.string().describe('Version of the software'),
  uptimeSeconds: COUNT.describe('Seconds since the process began'),
  setup: SETUP,
});

export const STARTING = z.object({
  status: z.literal('starting').describe('The process is alive; its parts are not there yet'),
  setup: SETUP,
});

export const HEALTH = z.discriminatedUnion('status', [
  RUNNING.describe('The doors are open'),
  STARTING.describe('While the service is starting; other paths answer 503'),
]);

export type Health = z.input<typeof HEALTH>;
export type Starting = z.input<typeof STARTING>;

export const READINESS_CHECK = z.object({
  name: z.string().describe('What is needed'),
  ok: z.boolean().describe('Whether it is there'),
  detail: z.string().describe('How it is, or what is missing'),
});

export const READINESS = z.object({
  ready: z.boolean().describe('True when every check is ok'),
  checks: z.array(READINESS_CHECK).describe('Part by part'),
});

export type Readiness = z.input<typeof READINESS>;

/** Who is asked for a series. */
export const SERIES_PROVIDERS = z.array(
  z.object({
    provider: z.enum(PROVIDER_IDS).describe('Who is asked'),
    circuit: z.enum(CIRCUIT_STATES).describe('`open`: left alone after failures; `half-open`: being tried again'),
  }),
);

const CACHE = z.object({
  name: z.string().describe('What is remembered'),
  hits: COUNT.describe('Calls that were answered from memory, since the process began'),
  misses: COUNT.describe('Calls that were not'),
  hitRate: PROBABILITY.nullable().describe('Share of the hits, 0 to 1; null before the first call'),
  entries: COUNT.describe('Values in memory'),
});

const FEED = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  source: z.string().describe('Where it comes from'),
  lastObserved: DATE.nullable().describe('Date of the last observation; null without one'),
  ageDays: z.int().nullable().describe('Days since that date; null without one'),
  stale: z.boolean().describe('True when it is missing or too old to be used'),
  providers: SERIES_PROVIDERS.describe('Who is asked for it, the primary first; empty where nobody is'),
});

export const CACHE_STATS = z.object({
  success: SUCCESS,
  source: z.string().describe('Where the market data comes from'),
  caches: z.array(CACHE).describe('Caches of this process'),
  feeds: z.array(FEED).describe('How fresh each series behind them is'),
});

export type CacheStats = z.input<typeof CACHE_STATS>;

export const RESOURCES = z.object({
  success: SUCCESS,
  name: z.string().describe('Name of the service'),
  description: z.string().describe('What it does'),
  version: z.string().describe('Version of the software'),
  source: z.string().describe('Where the market data comes from'),
  resources: z
    .array(
      z.object({
        method: z.string().describe('HTTP method'),
        url: z.string().describe('URL; parts in braces are parameters'),
        summary: z.string().describe('What it is'),
      }),
    )
    .describe('Everything that is served'),
});

export type Resources = z.input<typeof RESOURCES>;
