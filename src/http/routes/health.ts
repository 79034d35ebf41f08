import { formatDay } from '../../forecast/day.ts';
import type { SeriesHealth } from '../../market/health.ts';
import type { SetupStep } from '../../setup.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import {
  CACHE_STATS,
  type CacheStats,
  HEALTH,
  type Health,
  READINESS,
  type Readiness,
  STARTING,
  type Starting,
} from '../schemas/service.ts';
import { STATUS, type Status } from '../schemas/status.ts';

/** Liveness, readiness and the state of the parts. */
export function healthRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/health',
      name: 'getHealth',
      cost: 'free',
      tag: 'service',
      reply: HEALTH,
      summary: 'The process is alive',
      handle: () => health(parts),
    }),
    route({
      path: '/ready',
      name: 'getReadiness',
      cost: 'free',
      tag: 'service',
      reply: READINESS,
      otherReplies: { 503: { description: 'Something is missing', schema: READINESS } },
      summary: 'The service can answer: 200, or 503 with what is missing',
      handle: () => ready(parts),
    }),
    route({
      path: '/api/status',
      name: 'getStatus',
      cost: 'rpc',
      tag: 'service',
      reply: STATUS,
      summary: 'Where the data comes from, how far the record reaches, what ran last, what waits for what, and what the wallets hold',
      handle: () => status(parts),
    }),
    route({
      path: '/api/cache/stats',
      name: 'getCacheStats',
      tag: 'service',
      reply: CACHE_STATS,
      summary: 'Hits and misses of the market caches, and how fresh each feed behind them is',
      handle: () => cacheStats(parts),
    }),
  ];
}

function health({ version, setup }: HttpParts): Reply<Health> {
  return { body: { status: 'ok', version, uptimeSeconds: Math.round(process.uptime()), setup: setup() } };
}

async function ready({ readiness }: HttpParts): Promise<Reply<Readiness>> {
  const checks = await readiness();
  const complete = checks.every(({ ok }) => ok);
  return { status: complete ? 200 : 503, headers: { 'Cache-Control': 'no-store' }, body: { ready: complete, checks } };
}

async function status(parts: HttpParts): Promise<Reply<Status>> {
  return { body: { success: true, ...(await parts.status()) } };
}

async function cacheStats({ market, now }: HttpParts): Promise<Reply<CacheStats>> {
  const { caches, series } = await market.health(now().getTime());
  return { body: { success: true, source: market.source, caches, feeds: series.map(feedStatus) } };
}

function feedStatus({ series, source, lastObservedDay, ageDays, stale, providers }: SeriesHealth): CacheStats['feeds'][number] {
  return { series, source, lastObserved: lastObservedDay === null ? null : formatDay(lastObservedDay), ageDays, stale, providers };
}

/** What is served until the parts are there. */
export function startingRoutes(setup: () => SetupStep | null): Route[] {
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
