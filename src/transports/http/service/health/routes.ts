import { formatDay } from '../../../../forecast/day.ts';
import type { SeriesHealth } from '../../../../market/series/series-health.ts';
import type { StartupStep } from '../../../../platform/startup/startup-progress.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Route, route } from '../../server/route.ts';
import { CACHE_STATS, type CacheStats, HEALTH, READINESS, STARTING } from './schemas.ts';
import { STATUS } from './status-schemas.ts';

export type HealthDeps = Pick<HttpDeps, 'isStopping' | 'market' | 'now' | 'readiness' | 'setup' | 'status' | 'version'>;

export function healthRoutes({ isStopping, market, now, readiness, setup, status, version }: HealthDeps): Route[] {
  return [
    route('GET /health', 'getHealth', {
      cost: 'free',
      tag: 'service',
      reply: HEALTH,
      otherReplies: { 503: { description: 'It is about to end: ask another process', schema: HEALTH } },
      summary: 'The process is alive',
      handle() {
        if (isStopping())
          return { status: 503, headers: { 'Cache-Control': 'no-store' }, body: { status: 'stopping' as const, version, setup: null } };
        return { body: { status: 'ok' as const, version, uptimeSeconds: Math.round(process.uptime()), setup: setup() } };
      },
    }),
    route('GET /ready', 'getReadiness', {
      cost: 'free',
      tag: 'service',
      reply: READINESS,
      otherReplies: { 503: { description: 'Not ready', schema: READINESS } },
      summary: 'Readiness: 200, or 503 with what is missing',
      async handle() {
        const checks = await readiness();
        const ready = checks.every(({ ok }) => ok);
        return { status: ready ? 200 : 503, headers: { 'Cache-Control': 'no-store' }, body: { ready, checks } };
      },
    }),
    route('GET /api/status', 'getStatus', {
      cost: 'rpc',
      tag: 'service',
      reply: STATUS,
      summary: 'Data sources, record coverage, latest runs, readiness, and wallet balances',
      handle: async () => ({ body: { success: true as const, ...(await status()) } }),
    }),
    route('GET /api/cache/stats', 'getCacheStats', {
      units: 0.1,
      tag: 'service',
      reply: CACHE_STATS,
      summary: 'Hits and misses of the market caches, and the freshness of each feed',
      async handle() {
        const { caches, series } = await market.health(now().getTime());
        return { body: { success: true as const, source: market.source, caches, feeds: series.map(toFeedStatus) } };
      },
    }),
  ];
}

function toFeedStatus({ series, source, lastObservedDay, ageDays, stale, providers }: SeriesHealth): CacheStats['feeds'][number] {
  return { series, source, lastObserved: lastObservedDay === null ? null : formatDay(lastObservedDay), ageDays, stale, providers };
}

/** Liveness during startup. */
export function startingRoutes(setup: () => StartupStep | null): Route[] {
  return [
    route('GET /health', 'getHealth', {
      cost: 'free',
      tag: 'service',
      reply: STARTING,
      summary: 'The process is alive',
      handle: () => ({ body: { status: 'starting' as const, setup: setup() } }),
    }),
  ];
}
