import { z } from 'zod';
import { formatTierRequirement } from '../../auth/tiers.ts';
import { EVENT_KINDS, EVENT_NAMES, WEBSOCKET } from '../../events/events.ts';
import { MAX_WEBHOOKS_PER_WALLET } from '../../events/webhooks/registry.ts';
import { HORIZONS } from '../../forecast/model.ts';
import { COUNT, listOf, namedObject, nullableObjectOf, objectOf, PROBABILITY, SUCCESS, TIME } from '../../platform/validation.ts';
import { computeFreshness, computeNextSignalAt } from '../../record/public-signal.ts';
import { DIRECTION, FORECAST_ID, FORECAST_PRICES, FORECAST_STATE, FRESHNESS, OUTCOME } from '../../record/schemas/forecast.ts';
import { STRIKE } from '../../record/schemas/market-context.ts';
import { PROOF, READABLE_VALUES } from '../../record/schemas/signal.ts';
import { getNextIntent, listIntentHistory } from '../../record/trade-intent.ts';
import { limitInput, PAGE_LIMITS, signalDaysInput } from '../parameters.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { WAGER } from './prediction-markets.ts';
import { buildWebSocketUrl } from './websocket.ts';

const HOLD_NOTE =
  "A HOLD day has no intent: the next one is null, and the history omits it. The service's own wager of that day is placed nevertheless: it compares the model's P(strike) with the market price, and without an edge it has the minimum stake.";

/** Interface, sections 2.11 and 4.4. */
export function copyTradeRoutes(deps: Services): Route[] {
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
      shared: 'second',
      handle: async ({ query: { horizon }, caller }) => ({ body: await getNextIntent(deps, horizon, caller) }),
    }),
    route('GET /api/svc/copy-trade/history', 'listTradeIntents', {
      tag: 'signal',
      access: 'premium',
      summary: 'Past trade intents as decided, newest first, with outcomes; HOLD days have none',
      description: HOLD_NOTE,
      query: z.object({ limit: limitInput(PAGE_LIMITS.copyTrade.most, PAGE_LIMITS.copyTrade.default), horizon: signalDaysInput }),
      reply: INTENT_HISTORY,
      shared: 'second',
      handle: async ({ query, caller }) => ({
        body: await listIntentHistory(deps, { horizonDays: query.horizon, limit: query.limit }, caller),
      }),
    }),
  ];
}

async function readCopyTradeStatus(deps: Services): Promise<z.input<typeof COPY_TRADE_STATUS>> {
  const { record, market, venue, publicUrl, now } = deps;
  const { lastDay: lastCovered } = await market.coverage();
  const newest = record.known.findLatest(Math.max(...HORIZONS));
  const at = now();
  const { path: _, ...socketRules } = WEBSOCKET;
  const stale = newest !== null && computeFreshness(newest, { known: record.known, lastCovered }, at).stale;
  return {
    success: true,
    status: newest === null ? 'starting' : stale ? 'stale' : 'active',
    lastSignalAt: newest?.signalAt.toISOString() ?? null,
    nextSignalAt: computeNextSignalAt(at, { lastDay: newest?.day ?? null, lastCovered })?.toISOString() ?? null,
    note: HOLD_NOTE,
    requirement: formatTierRequirement('premium'),
    nextUrl: `${publicUrl}/api/svc/copy-trade/next`,
    historyUrl: `${publicUrl}/api/svc/copy-trade/history`,
    venue: { name: venue.name, quotesAreOurs: venue.sameBook.includes('paper') },
    channels: {
      websocket: {
        live: true,
        note: 'Events are pushed as they happen, of 7 days unless `horizons` names others; `since=<id>` replays missed events first.',
        url: buildWebSocketUrl(publicUrl),
        authentication: 'Access token as query parameter `token` or in `Authorization`; in browsers a single-use `ticket`',
        ticketUrl: `${publicUrl}/api/svc/ws/ticket`,
        requirement: formatTierRequirement('basic'),
        ...socketRules,
      },
      webhooks: {
        live: true,
        note: 'Events are delivered in order per endpoint, of 7 days unless `horizons` names others, with ten attempts within four days.',
        registerUrl: `${publicUrl}/api/svc/webhooks/register`,
        listUrl: `${publicUrl}/api/svc/webhooks`,
        requirement: formatTierRequirement('basic'),
        signature: 'HMAC-SHA256 with the registered secret, by Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature',
        webhooksPerWallet: MAX_WEBHOOKS_PER_WALLET,
      },
    },
    events: EVENT_NAMES.map((type) => ({ type, ...EVENT_KINDS[type] })),
    source: market.source,
  };
}

const LIVE = z.boolean().describe('Whether it delivers');
const NOTE = z.string().describe('How it delivers');
const TIER = z.string().describe('Requirement');

const COPY_TRADE_STATUS = namedObject('CopyTradeStatus', {
  success: SUCCESS,
  status: z
    .enum(['active', 'stale', 'starting'])
    .describe('active: intents are available; stale: a newer forecast is overdue; starting: no forecast yet'),
  lastSignalAt: TIME.nullable().describe('When the newest forecast was made; null before the first'),
  nextSignalAt: TIME.nullable().describe('When the next forecast and intent are due; null where the market data ends before'),
  note: z.string().describe('Effect of a HOLD signal on intents and wagers'),
  requirement: z.string().describe('Requirement of intents'),
  nextUrl: z.url().describe('Intent of the newest forecast: GET'),
  historyUrl: z.url().describe('Past intents with outcomes: GET'),
  venue: objectOf('Wager venue', {
    name: z.string().describe("Venue of the service's wagers"),
    quotesAreOurs: z.boolean().describe('True for quotes of the service itself, not of a real market'),
  }),
  channels: objectOf('Event channels', {
    websocket: objectOf('WebSocket', {
      live: LIVE,
      note: NOTE,
      url: z.url().describe('WebSocket URL'),
      authentication: z.string().describe('Authentication'),
      ticketUrl: z.url().describe('Ticket URL: POST with the token in `Authorization`'),
      requirement: TIER,
      pingSeconds: COUNT.describe('Seconds between pings of the server'),
      reconnectSeconds: COUNT.describe('Seconds to wait before reconnecting'),
      expiredCloseCode: z.int().describe('Close code when the token of a connection expires'),
      connectionsPerWallet: COUNT.describe('Concurrent connections per wallet'),
    }),
    webhooks: objectOf('Webhooks', {
      live: LIVE,
      note: NOTE,
      registerUrl: z.url().describe('Registration URL: POST'),
      listUrl: z.url().describe('List URL: GET; DELETE <url>/<id> deletes'),
      requirement: TIER,
      signature: z.string().describe('Signature scheme of deliveries'),
      webhooksPerWallet: COUNT.describe('Webhooks per wallet'),
    }),
  }),
  events: listOf('Events of all channels', {
    type: z.enum(EVENT_NAMES).describe('Event type'),
    meaning: z.string().describe('Meaning'),
    frequency: z.string().describe('Frequency'),
  }),
  source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
});

const SIDE = z.enum(['YES', 'NO']);
const COST = z.number().min(0);
const TICK = z.number().nullable().describe('Tick size of the exchange; null where unknown');
const MIN_SIZE = z.number().nullable().describe('Minimum order size of the exchange, contracts; null where unknown');

const { venue, marketId, question, strikeUsd, expiresAt, url, madeByService } = STRIKE.shape;

const MARKET = namedObject('TradeMarket', {
  basis: z
    .enum(['wager', 'listed'])
    .describe("wager: the market and prices of the day's wager; listed: the weekly strike nearest to the money now"),
  ...{ venue, marketId },
  conditionId: z.string().nullable().describe('Polymarket condition id; null elsewhere, or where not stored'),
  yesTokenId: z.string().nullable().describe('Polymarket YES token id, decimal; null elsewhere, or where not stored'),
  noTokenId: z.string().nullable().describe('Polymarket NO token id, decimal; null elsewhere, or where not stored'),
  ...{ question, strike: strikeUsd, expiresAt, url },
  bid: PROBABILITY.describe('Best bid of a YES contract, 0 to 1'),
  ask: PROBABILITY.describe('Best ask of a YES contract, 0 to 1'),
  quotedAt: TIME.describe('Time of these prices'),
  tickSize: TICK,
  minOrderSize: MIN_SIZE,
  madeByService,
});

const SIZING = namedObject('Sizing', {
  pModel: PROBABILITY.describe('P(YES) of the model'),
  marketPrice: PROBABILITY.describe('Mid price of YES; prices and costs have six digits'),
  weight: PROBABILITY.describe('Weight of the model against the market, earned by its record'),
  pBelieved: PROBABILITY.describe('marketPrice + weight * (pModel - marketPrice), eight digits'),
  bid: PROBABILITY.describe('Best YES bid of the sizing'),
  ask: PROBABILITY.describe('Best YES ask of the sizing'),
  fee: COST.nullable().describe('Fee of a contract, as a fraction of its payout; null where unknown: costs then exclude it'),
  yesCost: z.number().describe('Cost of a YES contract that pays 1: ask + fee'),
  noCost: z.number().describe('Cost of a NO contract that pays 1: 1 - bid + fee'),
  side: SIDE.nullable().describe('Side with an edge after costs; null without one'),
  fullKelly: COST.describe('(p - cost) / (1 - cost) of the side, with p its believed probability, eight digits; 0 without a side'),
  kellyShare: z.number().describe('Share of full Kelly'),
  maxFraction: z.number().describe('Maximum fraction of a bankroll'),
  fraction: PROBABILITY.describe('Fraction of a bankroll to stake: min(kellyShare * fullKelly, maxFraction), eight digits'),
  sizedAt: TIME.describe('Time of the sizing'),
  note: z.string().describe('Result and reason, as text'),
});

const ENTRY = namedObject('TradeEntry', {
  maxCost: COST.nullable().describe('Maximum entry cost of a contract, with the fee where `sizing.fee` is known; null without a side'),
  breakEvenCost: PROBABILITY.nullable().describe('Cost with fee at which the edge is zero; null without a side'),
  tokenId: z.string().nullable().describe('Token of the side; null without a side, or where unknown'),
  tickSize: TICK,
  minOrderSize: MIN_SIZE,
  validUntil: TIME.describe('Open of the outcome window: no entry after it'),
});

const MICROS = z.int();
const DECIMAL = z.string().regex(/^-?\d+(\.\d+)?$/);

const { state, basis } = WAGER.shape;

const OWN_WAGER = namedObject('TradeWager', {
  venue: z.string().describe('Venue'),
  asset: z.string().describe('Asset'),
  state,
  side: SIDE.nullable().describe('Side taken; null when nothing was staked'),
  basis,
  contracts: z.number().min(0).describe('Contracts; each pays 1 when its side wins'),
  price: COST.nullable().describe('Mean cost of a contract with fee; null without contracts'),
  stakeMicros: MICROS.min(0).describe('Cost of all contracts, in millionths of the asset'),
  stake: DECIMAL.describe('The same as a decimal of the asset'),
  payoutMicros: MICROS.nullable().describe('Payout, in millionths of the asset; null until settled'),
  payout: DECIMAL.nullable().describe('The same as a decimal of the asset'),
  pnlMicros: MICROS.nullable().describe('Payout less stake, in millionths of the asset; 0 when nothing was staked, null until settled'),
  pnl: DECIMAL.nullable().describe('The same as a decimal of the asset'),
  winner: SIDE.nullable().describe('Winning side; null until settled, and where the market ended without one'),
  placedAt: TIME.nullable().describe('When it was filled; null when it was not'),
  settledAt: TIME.nullable().describe('When the market settled; null before'),
  skippedBecause: z.string().nullable().describe('Reason for no stake; null when something was staked'),
});

const { predictionId, date, horizon } = FORECAST_ID;

const INTENT = {
  ...{ predictionId, date, horizon },
  status: FORECAST_STATE.status,
  timestamp: FORECAST_STATE.timestamp,
  ...READABLE_VALUES,
  side: z.enum(['BUY', 'SELL']).describe('Position in bitcoin itself'),
  contractSide: SIDE.nullable().describe('Side to take on the prediction market; null for no stake'),
  market: MARKET.nullable().describe('Prediction market; null without one'),
  sizing: SIZING.nullable().describe('Kelly stake with all inputs; null without a market'),
  marketReason: z.string().nullable().describe('Reason for no market; null with one'),
  entry: ENTRY.describe('Entry limits'),
  references: namedObject('TradeReferences', PROOF).describe('References to verify the intent'),
  wager: OWN_WAGER.nullable().describe("The service's own wager of the day; null when there is none"),
  replayed: FORECAST_STATE.replayed,
};

export const NEXT_INTENT = namedObject('NextIntent', {
  ...INTENT,
  actionable: z.boolean().describe('Whether an entry is reasonable now'),
  notActionableBecause: z.string().nullable().describe('Reason where not actionable; null otherwise'),
  ...FRESHNESS,
  nextSignalAt: TIME.nullable().describe('When the next forecast is due; null where the market data ends before'),
});

const { returnBps, btcAtSignal, btcAtResolution, resolvedAt } = FORECAST_PRICES;

const INTENT_HISTORY = z
  .array(
    z.object({
      ...INTENT,
      outcome: nullableObjectOf('Outcome of the forecast; null until it is on chain, and for a void one', {
        result: OUTCOME.nullable().describe('WIN when the direction was right'),
        correct: z.boolean().nullable().describe('The same as a boolean'),
        actualDirection: DIRECTION.nullable().describe('Actual direction'),
        ...{ returnBps, btcAtSignal, btcAtResolution, resolvedAt },
      }),
    }),
  )
  .meta({ id: 'IntentHistory' });
