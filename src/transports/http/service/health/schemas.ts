import { z } from 'zod';
import { CIRCUIT_STATES } from '../../../../market/live/providers/provider.ts';
import { PROVIDER_IDS } from '../../../../market/live/providers/providers.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { listOf, nullableObjectOf } from '../../../../platform/validation/described.ts';
import { COUNT, DATE, PROBABILITY, SUCCESS } from '../../../../platform/validation/fields.ts';

const SETUP = nullableObjectOf('Startup progress; null once complete', {
  what: z.string().describe('Current startup step'),
  done: COUNT.nullable().describe('Completed units; null where not counted'),
  total: COUNT.nullable().describe('Total units; null where not counted'),
});

const RUNNING = z.object({
  status: z.literal('ok').describe('The process is alive'),
  version: z.string().describe('Version of the software'),
  uptimeSeconds: COUNT.describe('Seconds since process start'),
  setup: SETUP,
});

export const STARTING = z.object({
  status: z.literal('starting').describe('The process is alive and starting'),
  setup: SETUP,
});

const STOPPING = z.object({
  status: z.literal('stopping').describe('The process still answers, and ends soon'),
  version: z.string().describe('Version of the software'),
  setup: SETUP,
});

export const HEALTH = z.discriminatedUnion('status', [
  RUNNING.describe('Startup is complete'),
  STARTING.describe('During startup; other paths answer 503'),
  STOPPING.describe('From a stop signal on, with status 503'),
]);

export type Health = z.input<typeof HEALTH>;

export const READINESS_CHECK = z.object({
  name: z.string().describe('Requirement'),
  ok: z.boolean().describe('Whether it is met'),
  detail: z.string().describe('Details, or what is missing'),
});

export const READINESS = z.object({
  ready: z.boolean().describe('True when every check is ok'),
  checks: z.array(READINESS_CHECK).describe('All checks'),
});

export type Readiness = z.input<typeof READINESS>;

export const SERIES_PROVIDERS = z.array(
  z.object({
    provider: z.enum(PROVIDER_IDS).describe('Provider'),
    circuit: z.enum(CIRCUIT_STATES).describe('`open`: suspended after failures; `half-open`: being retried'),
  }),
);

const CACHE = z.object({
  name: z.string().describe('Cached data'),
  hits: COUNT.describe('Cache hits since process start'),
  misses: COUNT.describe('Cache misses'),
  hitRate: PROBABILITY.nullable().describe('Hit rate, 0 to 1; null before the first call'),
  entries: COUNT.describe('Cached values'),
});

export const SERIES_STATE = {
  lastObserved: DATE.nullable().describe('Date of the last observation; null without one'),
  ageDays: z.int().nullable().describe('Days since that date; null without one'),
  stale: z.boolean().describe('True when it is missing or too old'),
  providers: SERIES_PROVIDERS.describe('Providers, the primary first; empty where none is polled'),
};

const FEED = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  source: z.string().describe('Source'),
  ...SERIES_STATE,
});

export const CACHE_STATS = z.object({
  success: SUCCESS,
  source: z.string().describe('Market data source'),
  caches: z.array(CACHE).describe('Caches of this process'),
  feeds: z.array(FEED).describe('Freshness of each series'),
});

export type CacheStats = z.input<typeof CACHE_STATS>;

export const RESOURCES = z.object({
  success: SUCCESS,
  name: z.string().describe('Name of the service'),
  description: z.string().describe('What it does'),
  version: z.string().describe('Version of the software'),
  source: z.string().describe('Market data source'),
  resources: listOf('All operations', {
    method: z.string().describe('HTTP method'),
    url: z.string().describe('URL; parts in braces are parameters'),
    summary: z.string().describe('What it is'),
  }),
});

export type Resources = z.input<typeof RESOURCES>;
