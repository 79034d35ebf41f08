import { z } from 'zod';
import { requirementOf } from '../../access/tiers.ts';
import { HORIZONS } from '../../forecast/model.ts';
import { EVENT_KINDS, WEBSOCKET } from '../../push/channels.ts';
import { EVENT_NAMES } from '../../push/event-names.ts';
import { WEBHOOKS_PER_WALLET } from '../../push/webhooks/store.ts';
import { intentHistory } from '../../record/intent/history.ts';
import { nextIntent } from '../../record/intent/next.ts';
import { freshnessOf, nextSignalAt } from '../../record/oracle/freshness.ts';
import { limit, PAGES, signalHorizon } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { COPY_TRADE_STATUS } from '../schemas/copy-trade.ts';
import { INTENT_HISTORY, NEXT_INTENT } from '../schemas/trade-intent.ts';
import { socketUrl } from './websocket.ts';

const HOLD_NOTE =
  "A day of HOLD has no intent: the next one is null then, and the history leaves it out. The service's own wager of that day is sized all the same, since it sets the model's probability of a strike against the market's price and does not ask for the signal.";

/** Interface, sections 2.11 and 4.4. */
export function copyTradeRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/copy-trade/status',
      name: 'getCopyTradeStatus',
      tag: 'signal',
      summary: 'How trade intents are got and events are pushed, which channels deliver, and when the next signal is due',
      reply: COPY_TRADE_STATUS,
      handle: async () => ({ body: await statusOf(parts) }),
    }),
    route({
      path: '/api/svc/copy-trade/next',
      name: 'getNextTradeIntent',
      tag: 'signal',
      access: 'premium',
      summary: 'The trade intent of the newest forecast with its Kelly sizing and its market; null when the signal is HOLD',
      description: HOLD_NOTE,
      query: z.object({ horizon: signalHorizon }),
      reply: NEXT_INTENT.nullable(),
      errors: ['STEP_WAITING'],
      handle: async ({ query: { horizon }, caller }) => ({ body: await nextIntent(parts, horizon, caller) }),
    }),
    route({
      path: '/api/svc/copy-trade/history',
      name: 'listTradeIntents',
      tag: 'signal',
      access: 'premium',
      summary: 'Past trade intents as they were decided, newest first, each with what became of it; days of HOLD had none',
      description: HOLD_NOTE,
      query: z.object({ limit: limit(PAGES.copyTrade.most, PAGES.copyTrade.default), horizon: signalHorizon }),
      reply: INTENT_HISTORY,
      handle: async ({ query, caller }) => ({
        body: await intentHistory(parts, { horizonDays: query.horizon, limit: query.limit }, caller),
      }),
    }),
  ];
}

async function statusOf({ record, market, venueName, sameBook, publicUrl, now }: HttpParts): Promise<z.input<typeof COPY_TRADE_STATUS>> {
  const [newest, { lastDay: lastCovered }] = await Promise.all([record.latest(Math.max(...HORIZONS)), market.coverage()]);
  const at = now();
  const stale = newest !== null && freshnessOf(newest, { lastDay: newest.day, lastCovered }, at).stale;
  return {
    success: true,
    status: newest === null ? 'starting' : stale ? 'stale' : 'active',
    lastSignalAt: newest?.signalAt.toISOString() ?? null,
    nextSignalAt: nextSignalAt(at, { lastDay: newest?.day ?? null, lastCovered })?.toISOString() ?? null,
    note: HOLD_NOTE,
    requirement: requirementOf('premium'),
    nextUrl: `${publicUrl}/api/svc/copy-trade/next`,
    historyUrl: `${publicUrl}/api/svc/copy-trade/history`,
    venue: { name: venueName, quotesAreOurs: sameBook.includes('paper') },
    channels: { websocket: websocketStatus(publicUrl), webhooks: webhookStatus(publicUrl) },
    events: EVENT_NAMES.map((type) => ({ type, ...EVENT_KINDS[type] })),
    source: market.source,
  };
}

type Channels = z.input<typeof COPY_TRADE_STATUS>['channels'];

function websocketStatus(publicUrl: string): Channels['websocket'] {
  const { path: _, ...rules } = WEBSOCKET;
  return {
    live: true,
    note: 'Events are pushed as they happen, those of 7 days unless `horizons` names others; `since=<id>` sends first what was missed since that event.',
    url: socketUrl(publicUrl),
    authentication:
      'An access token as the query parameter `token` or in `Authorization`; for browsers a `ticket`, which opens one connection',
    ticketUrl: `${publicUrl}/api/svc/ws/ticket`,
    requirement: requirementOf('basic'),
    ...rules,
  };
}

function webhookStatus(publicUrl: string): Channels['webhooks'] {
  return {
    live: true,
    note: 'Events are delivered in order for each endpoint, those of 7 days unless `horizons` names others, and tried ten times within four days.',
    registerUrl: `${publicUrl}/api/svc/webhooks/register`,
    listUrl: `${publicUrl}/api/svc/webhooks`,
    requirement: requirementOf('basic'),
    signature: 'HMAC-SHA256 under the registered secret, as Standard Webhooks has it: webhook-id, webhook-timestamp, webhook-signature',
    webhooksPerWallet: WEBHOOKS_PER_WALLET,
  };
}
