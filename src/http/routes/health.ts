import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { formatDay } from '../../forecast/day.ts';
import type { StartupStep } from '../../platform/progress.ts';
import { type Route, route } from '../route.ts';
import { CACHE_STATS, HEALTH, READINESS, STARTING, STATUS } from '../schemas/health.ts';
import type { Services } from '../services.ts';

export function healthRoutes({ isStopping, market, now, readiness, setup, status, version }: Services): Route[] {
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
        const feeds = series.map(({ series: id, source, lastObservedDay, ageDays, stale, providers }) => {
          const lastObserved = lastObservedDay === null ? null : formatDay(lastObservedDay);
          return { series: id, source, lastObserved, ageDays, stale, providers };
        });
        return { body: { success: true as const, source: market.source, caches, feeds } };
      },
    }),
  ];
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

/** As the streams of A2A and MCP have them. */
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
const GAP_MS = 1_000;
const END = 'event: end\ndata: {}\n\n';

const EVENTS = z
  .string()
  .regex(/^event: counted\ndata: \{"address":"[^"\n]+"\}\n\nevent: end\ndata: \{\}\n\n$/)
  .describe('Both events of the stream, as it ends');

/** What stands between a client and this process, as seen from both sides. */
export function connectionRoutes(): Route[] {
  return [
    route('GET /api/connection', 'getConnection', {
      tag: 'service',
      isLive: true,
      reply: null,
      alternatives: { 'text/event-stream': { description: '`counted`, whose data has `address`; `end` a second later.', schema: EVENTS } },
      summary: 'The address that your limits are counted for, as a stream of two events a second apart',
      description: 'Both events at once: a proxy on the way buffers streams. IPv6 addresses are counted by their /64.',
      handle({ source }) {
        const counted = `event: counted\ndata: ${JSON.stringify({ address: source.address })}\n\n`;
        const bytes = Buffer.byteLength(counted + END);
        return { headers: STREAM_HEADERS, streamed: { bytes, encoding: null, read: () => readEvents(counted) } };
      },
    }),
  ];
}

async function* readEvents(counted: string): AsyncGenerator<Buffer> {
  yield Buffer.from(counted);
  await pause(GAP_MS);
  yield Buffer.from(END);
}
