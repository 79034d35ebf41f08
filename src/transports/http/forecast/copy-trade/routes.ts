import { z } from 'zod';
import { formatTierRequirement } from '../../../../auth/tiers/tiers.ts';
import { EVENT_KINDS, WEBSOCKET } from '../../../../events/channels.ts';
import { EVENT_NAMES } from '../../../../events/event-names.ts';
import { MAX_WEBHOOKS_PER_WALLET } from '../../../../events/webhooks/registry/webhook-store.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import { listIntentHistory } from '../../../../record/intent/history.ts';
import { getNextIntent } from '../../../../record/intent/next-intent.ts';
import type { OracleDeps } from '../../../../record/oracle/deps.ts';
import { computeFreshness, computeNextSignalAt } from '../../../../record/oracle/freshness.ts';
import { limitInput, PAGE_LIMITS, signalDaysInput } from '../../server/parsing/parameters.ts';
import { type Route, route } from '../../server/route.ts';
import { buildWebSocketUrl } from '../../websocket/routes.ts';
import { COPY_TRADE_STATUS } from './schemas.ts';
import { INTENT_HISTORY, NEXT_INTENT } from './trade-intent-schemas.ts';

const HOLD_NOTE =
  "A HOLD day has no intent: the next one is null, and the history omits it. The service's own wager of that day is sized nevertheless, since it compares the model's P(strike) with the market price, independent of the signal.";

/** Interface, sections 2.11 and 4.4. */
export function copyTradeRoutes(deps: OracleDeps): Route[] {
  return [
    route('GET /api/svc/copy-trade/status', 'getCopyTradeStatus', {
      tag: 'signal',
      summary: 'Trade-intent and event channels, their status, and the time of the next signal',
      reply: COPY_TRADE_STATUS,
      handle: async () => ({ body: await readCopyTradeStatus(deps) }),
    }),
    route('GET /api/svc/copy-trade/next', 'getNextTradeIntent', {
      tag: 'signal',
      access: 'premium',
      summary: 'Trade intent of the newest forecast with Kelly sizing and market; null when the signal is HOLD',
      description: HOLD_NOTE,
      query: z.object({ horizon: signalDaysInput }),
      reply: NEXT_INTENT.nullable(),
      errors: ['STEP_WAITING'],
      sharedByTier: true,
      handle: async ({ query: { horizon }, caller }) => ({ body: await getNextIntent(deps, horizon, caller) }),
    }),
    route('GET /api/svc/copy-trade/history', 'listTradeIntents', {
      tag: 'signal',
      access: 'premium',
      summary: 'Past trade intents as decided, newest first, with outcomes; HOLD days have none',
      description: HOLD_NOTE,
      query: z.object({ limit: limitInput(PAGE_LIMITS.copyTrade.most, PAGE_LIMITS.copyTrade.default), horizon: signalDaysInput }),
      reply: INTENT_HISTORY,
      sharedByTier: true,
      handle: async ({ query, caller }) => ({
        body: await listIntentHistory(deps, { horizonDays: query.horizon, limit: query.limit }, caller),
      }),
    }),
  ];
}

async function readCopyTradeStatus({
  record,
  market,
  venueName,
  sameBook,
  publicUrl,
  now,
}: OracleDeps): Promise<z.input<typeof COPY_TRADE_STATUS>> {
  const [newest, { lastDay: lastCovered }] = await Promise.all([record.findLatest(Math.max(...HORIZONS)), market.coverage()]);
  const at = now();
  const stale = newest !== null && computeFreshness(newest, { lastDay: newest.day, lastCovered }, at).stale;
  return {
    success: true,
    status: newest === null ? 'starting' : stale ? 'stale' : 'active',
    lastSignalAt: newest?.signalAt.toISOString() ?? null,
    nextSignalAt: computeNextSignalAt(at, { lastDay: newest?.day ?? null, lastCovered })?.toISOString() ?? null,
    note: HOLD_NOTE,
    requirement: formatTierRequirement('premium'),
    nextUrl: `${publicUrl}/api/svc/copy-trade/next`,
    historyUrl: `${publicUrl}/api/svc/copy-trade/history`,
    venue: { name: venueName, quotesAreOurs: sameBook.includes('paper') },
    channels: { websocket: buildWebSocketStatus(publicUrl), webhooks: buildWebhookStatus(publicUrl) },
    events: EVENT_NAMES.map((type) => ({ type, ...EVENT_KINDS[type] })),
    source: market.source,
  };
}

type Channels = z.input<typeof COPY_TRADE_STATUS>['channels'];

function buildWebSocketStatus(publicUrl: string): Channels['websocket'] {
  const { path: _, ...rules } = WEBSOCKET;
  return {
    live: true,
    note: 'Events are pushed as they happen, of 7 days unless `horizons` names others; `since=<id>` replays missed events first.',
    url: buildWebSocketUrl(publicUrl),
    authentication: 'Access token as query parameter `token` or in `Authorization`; in browsers a single-use `ticket`',
    ticketUrl: `${publicUrl}/api/svc/ws/ticket`,
    requirement: formatTierRequirement('basic'),
    ...rules,
  };
}

function buildWebhookStatus(publicUrl: string): Channels['webhooks'] {
  return {
    live: true,
    note: 'Events are delivered in order per endpoint, of 7 days unless `horizons` names others, with ten attempts within four days.',
    registerUrl: `${publicUrl}/api/svc/webhooks/register`,
    listUrl: `${publicUrl}/api/svc/webhooks`,
    requirement: formatTierRequirement('basic'),
    signature: 'HMAC-SHA256 with the registered secret, by Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature',
    webhooksPerWallet: MAX_WEBHOOKS_PER_WALLET,
  };
}
