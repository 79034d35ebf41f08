import { formatDay } from '../../forecast/day.ts';
import type { SeriesHealth } from '../../market/health.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { ANYTHING } from '../schemas/anything.ts';

/** Liveness, readiness and the state of the parts. */
export function healthRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/health',
      name: 'getHealth',
      tag: 'service',
      reply: ANYTHING,
      summary: 'The process is alive',
      handle: () => ({ body: { status: 'ok', version: parts.version, uptimeSeconds: Math.round(process.uptime()) } }),
    }),
    route({
      path: '/ready',
      name: 'getReadiness',
      tag: 'service',
      reply: ANYTHING,
      summary: 'The service can answer: 200, or 503 with what is missing',
      async handle() {
        const checks = await parts.readiness();
        const ready = checks.every(({ ok }) => ok);
        return { status: ready ? 200 : 503, headers: { 'Cache-Control': 'no-store' }, body: { ready, checks } };
      },
    }),
    route({
      path: '/api/status',
      name: 'getStatus',
      tag: 'service',
      reply: ANYTHING,
      summary: 'Where the data comes from, how far the record reaches, what ran last and what waits for what',
      handle: async () => ({ body: { success: true, ...(await parts.status()) } }),
    }),
    route({
      path: '/api/cache/stats',
      name: 'getCacheStats',
      tag: 'service',
      reply: ANYTHING,
      summary: 'Hits and misses of the market caches, and how fresh each feed behind them is',
      async handle() {
        const { caches, series } = await parts.market.health(parts.now().getTime());
        return { body: { success: true, source: parts.market.source, caches, feeds: series.map(feedStatus) } };
      },
    }),
  ];
}

function feedStatus({ series, source, lastObservedDay, ageDays, stale, providers }: SeriesHealth): object {
  return { series, source, lastObserved: lastObservedDay === null ? null : formatDay(lastObservedDay), ageDays, stale, providers };
}

/** What is served until the parts are there. */
export function startingRoutes(): Route[] {
  return [
    route({
      path: '/health',
      name: 'getHealth',
      tag: 'service',
      reply: ANYTHING,
      summary: 'The process is alive',
      handle: () => ({ body: { status: 'starting' } }),
    }),
  ];
}
