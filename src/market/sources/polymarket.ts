import { z } from 'zod';
import { OracleError, orElse } from '../../errors.ts';
import { DAY_MS } from '../../forecast/day.ts';
import { isNewYorkNoon, type StrikeBookLevel, type StrikeSnapshot, selectNearTheMoney, selectWeeklyStrikes } from '../feed.ts';
import type { Provider } from '../live/provider.ts';
import {
  boundVenueTexts,
  contractPrice,
  epochMsText,
  fetchParsed,
  finite,
  keepProblems,
  numeric,
  parseAnswer,
  positive,
  type RowReader,
  readUsable,
  requireUsable,
  type StrikeSource,
  toOfferPrice,
} from './source.ts';

/** Ladders are listed a week ahead. */
const DAYS_AHEAD = 9;
const PAGE_SIZE = 100;
/** The tag is shared by hundreds of markets on the next minutes and hours; pages are sorted by latest expiry. */
const MAX_PAGES = 10;
const MAX_BOOKS = 11;

/** All daily and weekly ladders ("Bitcoin above ___ on ..."), with order books near the money for the weekly one. */
export const polymarketStrikes: StrikeSource = {
  providers: ['polymarket-gamma', 'polymarket-clob'],
  async fetch({ 'polymarket-gamma': gamma, 'polymarket-clob': clob }, { spotUsd, atMs }) {
    const strikes = await fetchStrikes(gamma, atMs);
    const nearTheMoney = new Set(selectNearTheMoney(selectWeeklyStrikes(strikes, atMs), spotUsd, MAX_BOOKS));
    return Promise.all(strikes.map((strike) => (nearTheMoney.has(strike) ? addBook(clob, strike) : strike)));
  },
};

async function fetchStrikes(gamma: Provider, atMs: number): Promise<StrikeSnapshot[]> {
  const strikes = new Map<string, StrikeSnapshot>();
  const { reader, problems } = keepProblems(gamma);
  for await (const strike of listOpenStrikes(gamma, reader, atMs)) {
    // Forecasts cover days, so hourly ladders are excluded.
    if (strike.expiresAtMs > atMs && isNewYorkNoon(strike.expiresAtMs)) strikes.set(strike.marketId, strike);
  }
  if (strikes.size === 0) throw problems[0] ?? new OracleError('FEED_UNAVAILABLE', `${gamma.title}: no strikes on bitcoin are listed`);
  return [...strikes.values()];
}

async function* listOpenStrikes(gamma: Provider, reader: RowReader, atMs: number): AsyncGenerator<StrikeSnapshot> {
  let offset = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { events, strikes } = await fetchPage(gamma, reader, atMs, offset);
    if (events === 0) return;
    yield* strikes;
    // The provider may return smaller pages than requested.
    offset += events;
  }
}

/** The number of events of a page, and the strikes of its ladders. */
function fetchPage(gamma: Provider, reader: RowReader, atMs: number, offset: number) {
  const query = {
    tag_slug: 'bitcoin',
    closed: 'false',
    end_date_min: new Date(atMs).toISOString(),
    end_date_max: new Date(atMs + DAYS_AHEAD * DAY_MS).toISOString(),
    order: 'endDate',
    ascending: 'false',
    limit: PAGE_SIZE,
    offset,
  };
  return fetchParsed(gamma, { path: '/events', query }, ({ body, receivedAtMs }) => parseGammaEvents(body, reader, receivedAtMs));
}

/** Adds the order book to a strike; returns the strike as listed when the book is unavailable or invalid, which is a failed call of its provider. */
function addBook(clob: Provider, strike: StrikeSnapshot): Promise<StrikeSnapshot> {
  const request = { path: '/book', query: { token_id: strike.yesTokenId as string } };
  return fetchParsed(clob, request, ({ body }) => parseBook(body, strike, clob.title))
    .catch(orElse('FEED_UNAVAILABLE', strike))
    .catch(orElse('FEED_INVALID', strike));
}

const MAX_LEVELS = 5;
const price = numeric.pipe(contractPrice);
const levels = z.array(z.object({ price, size: numeric.pipe(finite.min(0)) }));

const book = z.object({
  timestamp: epochMsText,
  bids: levels,
  asks: levels,
  min_order_size: numeric.nullish(),
  tick_size: numeric.nullish(),
  neg_risk: z.boolean().nullish(),
  last_trade_price: price.or(z.literal('').transform(() => null)).nullish(),
});

/** Adds the order book of the YES token to a strike. @throws OracleError FEED_INVALID naming the field */
export function parseBook(body: unknown, strike: StrikeSnapshot, providerTitle: string): StrikeSnapshot {
  const data = parseAnswer(book, body, providerTitle);
  // Polymarket sends the best level last.
  const bids = sortLevels(data.bids, (a, b) => b.price - a.price);
  const asks = sortLevels(data.asks, (a, b) => a.price - b.price);
  return {
    ...strike,
    bid: bids[0]?.price ?? null,
    ask: asks[0]?.price ?? null,
    lastPrice: data.last_trade_price || strike.lastPrice,
    bids,
    asks,
    tickSize: data.tick_size ?? strike.tickSize,
    minOrderSize: data.min_order_size ?? strike.minOrderSize,
    negRisk: data.neg_risk ?? strike.negRisk,
    providerAtMs: data.timestamp,
  };
}

function sortLevels(side: StrikeBookLevel[], order: (a: StrikeBookLevel, b: StrikeBookLevel) => number): StrikeBookLevel[] {
  return side
    .filter(({ size }) => size > 0)
    .sort(order)
    .slice(0, MAX_LEVELS);
}

const LADDER_TITLE = /^bitcoin above _+ on /i;
const STRIKE = /^\$?(\d[\d,]*(?:\.\d+)?)(k?)$/i;
const STRIKE_IN_QUESTION = /\babove \$?(\d[\d,]*(?:\.\d+)?)(k?)\b/i;
const event = z.looseObject({ title: z.string() });
const ladder = z.object({ slug: z.string(), markets: z.array(z.unknown()) });
const state = z.object({ closed: z.boolean().optional(), acceptingOrders: z.boolean().optional() });

/** A JSON array of two strings, itself in a string. */
const pair = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'is not JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.tuple([z.string(), z.string()]));

const yesAndNo = pair.refine((names) => names.toSorted().join() === 'No,Yes', 'is not Yes and No');
const instant = z.iso.datetime({ offset: true }).transform(Date.parse);

const market = z.object({
  id: z.string().min(1),
  question: z.string(),
  groupItemTitle: z.string().optional(),
  description: z.string().default(''),
  conditionId: z.string().regex(/^0x[0-9a-f]{64}$/i, 'is not a condition id'),
  endDate: instant,
  updatedAt: instant.nullish(),
  outcomes: yesAndNo,
  outcomePrices: pair.pipe(z.tuple([numeric.pipe(contractPrice), numeric.pipe(contractPrice)])),
  clobTokenIds: pair.pipe(z.tuple([z.string().regex(/^\d+$/, 'is not a token id'), z.string().regex(/^\d+$/, 'is not a token id')])),
  bestBid: contractPrice.nullish(),
  bestAsk: contractPrice.nullish(),
  lastTradePrice: contractPrice.nullish(),
  orderPriceMinTickSize: positive.nullish(),
  orderMinSize: positive.nullish(),
  negRisk: z.boolean().nullish(),
});

/** Parses "87,600", "$96k", or a question that contains "above $96,000" to US dollars. */
const strike = z.string().transform((text, context) => {
  const [, digits, thousands] = STRIKE.exec(text.trim()) ?? STRIKE_IN_QUESTION.exec(text) ?? [];
  if (digits === undefined) {
    context.addIssue({ code: 'custom', path: ['groupItemTitle'], message: 'names no strike' });
    return z.NEVER;
  }
  return Number(digits.replaceAll(',', '')) * (thousands === '' ? 1 : 1_000);
});

/** The number of events of a Gamma response, and the open strikes of its ladders without order books. @throws OracleError FEED_INVALID without a valid event */
export function parseGammaEvents(body: unknown, reader: RowReader, receivedAtMs: number): { events: number; strikes: StrikeSnapshot[] } {
  const events = parseAnswer(z.array(z.unknown()), body, reader.title);
  const strikes = requireUsable(events, reader, (entry, index) => {
    const listed = parseAnswer(event, entry, reader.title, [index]);
    return LADDER_TITLE.test(listed.title) ? parseLadder(listed, reader, receivedAtMs) : [];
  });
  return { events: events.length, strikes: strikes.flat() };
}

function parseLadder(listed: unknown, reader: RowReader, receivedAtMs: number): StrikeSnapshot[] {
  const { title } = reader;
  const { slug, markets } = parseAnswer(ladder, listed, title);
  const url = `https://polymarket.com/event/${encodeURIComponent(slug)}`;
  return readUsable(markets, reader, (entry): StrikeSnapshot[] =>
    isOpenMarket(entry, title) ? [{ ...parseMarket(entry, title), url, receivedAtMs }] : [],
  ).flat();
}

function isOpenMarket(entry: unknown, providerTitle: string): boolean {
  const { closed, acceptingOrders } = parseAnswer(state, entry, providerTitle);
  return closed !== true && acceptingOrders !== false;
}

function parseMarket(entry: unknown, providerTitle: string): Omit<StrikeSnapshot, 'url' | 'receivedAtMs'> {
  const data = parseAnswer(market, entry, providerTitle);
  const strikeUsd = parseAnswer(strike, data.groupItemTitle || data.question, providerTitle);
  const yes = data.outcomes.indexOf('Yes');
  return {
    venue: 'polymarket',
    marketId: data.id,
    ...boundVenueTexts(data.question, data.description),
    strikeUsd,
    expiresAtMs: data.endDate,
    bid: toOfferPrice(data.bestBid),
    ask: toOfferPrice(data.bestAsk),
    // Polymarket quotes an indicative price before the first trade.
    lastPrice: data.lastTradePrice || data.outcomePrices[yes],
    bids: [],
    asks: [],
    tickSize: data.orderPriceMinTickSize ?? null,
    minOrderSize: data.orderMinSize ?? null,
    negRisk: data.negRisk ?? null,
    conditionId: data.conditionId,
    yesTokenId: data.clobTokenIds[yes],
    noTokenId: data.clobTokenIds[1 - yes],
    providerAtMs: data.updatedAt ?? null,
  };
}
