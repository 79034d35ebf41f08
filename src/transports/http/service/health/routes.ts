import { formatDay } from '../../../../forecast/day.ts';
import type { SeriesHealth } from '../../../../market/series/series-health.ts';
import type { StartupStep } from '../../../../platform/startup-progress.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { CACHE_STATS, type CacheStats, HEALTH, type Health, READINESS, type Readiness, STARTING, type Starting } from './schemas.ts';
import { STATUS, type Status } from './status-schemas.ts';

export type HealthDeps = Pick<HttpDeps, 'market' | 'now' | 'readiness' | 'setup' | 'status' | 'version'>;

export function healthRoutes(deps: HealthDeps): Route[] {
  return [
    route({
      path: '/health',
      name: 'getHealth',
      cost: 'free',
      tag: 'service',
      reply: HEALTH,
      summary: 'The process is alive',
      handle: () => toHealthReply(deps),
    }),
    route({
      path: '/ready',
      name: 'getReadiness',
      cost: 'free',
      tag: 'service',
      reply: READINESS,
      otherReplies: { 503: { description: 'Something is missing', schema: READINESS } },
      summary: 'The service can answer: 200, or 503 with what is missing',
      handle: () => checkReadiness(deps),
    }),
    route({
      path: '/api/status',
      name: 'getStatus',
      cost: 'rpc',
      tag: 'service',
      reply: STATUS,
      summary: 'Where the data comes from, how far the record reaches, what ran last, what waits for what, and what the wallets hold',
      handle: () => readServiceStatus(deps),
    }),
    route({
      path: '/api/cache/stats',
      name: 'getCacheStats',
      tag: 'service',
      reply: CACHE_STATS,
      summary: 'Hits and misses of the market caches, and how fresh each feed behind them is',
      handle: () => readCacheStats(deps),
    }),
  ];
}

function toHealthReply({ version, setup }: HealthDeps): Reply<Health> {
  return { body: { status: 'ok', version, uptimeSeconds: Math.round(process.uptime()), setup: setup() } };
}

async function checkReadiness({ readiness }: HealthDeps): Promise<Reply<Readiness>> {
  const checks = await readiness();
  const complete = checks.every(({ ok }) => ok);
  return { status: complete ? 200 : 503, headers: { 'Cache-Control': 'no-store' }, body: { ready: complete, checks } };
}

async function readServiceStatus(deps: HealthDeps): Promise<Reply<Status>> {
  return { body: { success: true, ...(await deps.status()) } };
}

async function readCacheStats({ market, now }: HealthDeps): Promise<Reply<CacheStats>> {
  const { caches, series } = await market.health(now().getTime());
  return { body: { success: true, source: market.source, caches, feeds: series.map(toFeedStatus) } };
}

function toFeedStatus({ series, source, lastObservedDay, ageDays, stale, providers }: SeriesHealth): CacheStats['feeds'][number] {
  return { series, source, lastObserved: lastObservedDay === null ? null : formatDay(lastObservedDay), ageDays, stale, providers };
}

/** Liveness during startup. */
export function startingRoutes(setup: () => StartupStep | null): Route[] {
  return [
    route({
      path: '/health',
      name: 'getHealth',
      cost: 'free',
      tag: 'service',
      reply: STARTING,
      summary: 'The process is alive',
      handle: (): Reply<Starting> => ({ body: { status: 'starting', setup: setup() } }),
    }),
  ];
}
