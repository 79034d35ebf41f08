import { DAY_MS, type Day, parseDay, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { Feed } from '../../../src/market/feed.ts';
import type { Observations } from '../../../src/market/series.ts';
import type { Answers, HostRequest } from '../market/provider-host.ts';

/** Prices of a venue over those of the simulated market: Kraken has its closes, so the median of any three has a close of a venue. */
export const VENUE_FACTORS = { coinbase: 1.0003, kraken: 1, bitstamp: 0.9998, binance: 1.0005 } as const;

type Venue = keyof typeof VENUE_FACTORS;

/** The first daily candle of each venue. */
const FIRST_CANDLE: Record<Venue, Day> = {
  coinbase: parseDay('2015-07-20'),
  kraken: parseDay('2013-10-06'),
  bitstamp: parseDay('2011-08-18'),
  binance: parseDay('2017-08-17'),
};

interface Candle {
  day: Day;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  /** What takers bought of the volume. */
  bought: number;
}

/** What the exchanges that trade bitcoin say of a market at an instant. */
export function venuesAnswers(market: Feed, nowMs: number) {
  return {
    coinbase: (request) => coinbaseAnswer(request, market, nowMs),
    kraken: (request) => krakenAnswer(request, market, nowMs),
    bitstamp: (request) => bitstampAnswer(request, market, nowMs),
    binance: (request) => binanceAnswer(request, market, nowMs),
  } satisfies Record<Venue, Answers>;
}

async function coinbaseAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  if (path === '/products/BTC-USD/ticker') {
    const { price } = await lastPrice('coinbase', market, nowMs);
    const time = new Date(nowMs).toISOString().replace('Z', '482Z');
    return { body: { trade_id: 912345678, price: cents(price), size: '0.00120000', time, ...bidAsk(price), volume: '9312.40183221' } };
  }
  if (path !== '/products/BTC-USD/candles' || query.get('granularity') !== '86400') return null;
  const endMs = query.has('end') ? Date.parse(query.get('end')!) : nowMs;
  const startMs = query.has('start') ? Date.parse(query.get('start')!) : endMs - 299 * DAY_MS;
  if ((endMs - startMs) / DAY_MS >= 300) {
    return {
      status: 400,
      body: { message: 'granularity too small for the requested time range. Count of aggregations requested exceeds 300' },
    };
  }
  const rows = within(await candles('coinbase', market, nowMs), startMs, endMs).reverse();
  return { body: rows.map(({ day, low, high, open, close, volume }) => [toInstantMs(day) / 1000, low, high, open, close, volume]) };
}

/** The newest 720 candles, the running one last. */
async function krakenAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  const pair = query.get('pair') ?? '';
  if (!['XBTUSD', 'XXBTZUSD'].includes(pair)) return { body: { error: ['EQuery:Unknown asset pair'] } };
  if (path === '/0/public/Ticker') {
    const { price, open } = await lastPrice('kraken', market, nowMs);
    const { bid, ask } = bidAsk(price);
    const levels = { a: [ask, '1', '1.000'], b: [bid, '2', '2.000'], c: [cents(price), '0.00412000'] };
    const both = (text: string) => [text, text];
    const day = {
      v: both('1203.55120000'),
      p: both(cents(price)),
      t: [25310, 41200],
      l: both(cents(price * 0.98)),
      h: both(cents(price * 1.02)),
    };
    return { body: { error: [], result: { XXBTZUSD: { ...levels, ...day, o: cents(open) } } } };
  }
  if (path !== '/0/public/OHLC' || query.get('interval') !== '1440') return null;
  const sinceMs = Number(query.get('since') ?? 0) * 1000;
  const rows = (await candles('kraken', market, nowMs)).slice(-720).filter(({ day }) => toInstantMs(day) > sinceMs);
  const published = rows.map(({ day, open, high, low, close, volume }) => [
    toInstantMs(day) / 1000,
    ...[open, high, low, close, (high + low) / 2].map(cents),
    volume.toFixed(8),
    40_000,
  ]);
  return { body: { error: [], result: { XXBTZUSD: published, last: toInstantMs(toDay(nowMs) - 1) / 1000 } } };
}

async function bitstampAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  if (path === '/api/v2/ticker/btcusd/') {
    const { price, open, before } = await lastPrice('bitstamp', market, nowMs);
    const change = { open: cents(open), open_24: cents(before), percent_change_24: ((price / before - 1) * 100).toFixed(2) };
    const range = { high: cents(price * 1.02), low: cents(price * 0.98), vwap: cents(price), volume: '1402.55120000' };
    return { body: { timestamp: String(Math.floor(nowMs / 1000)), last: cents(price), ...bidAsk(price), ...range, ...change, side: '0' } };
  }
  if (path !== '/api/v2/ohlc/btcusd/' || query.get('step') !== '86400') return null;
  const limit = Math.min(1000, Number(query.get('limit')));
  if (!(limit > 0)) return { status: 400, body: { code: 'Invalid limit', errors: [{ field: 'limit' }] } };
  const endMs = Number(query.get('end') ?? Math.floor(nowMs / 1000)) * 1000;
  const startMs = Number(query.get('start') ?? 0) * 1000;
  const rows = within(await candles('bitstamp', market, nowMs), startMs, endMs).slice(-limit);
  const ohlc = rows.map(({ day, open, high, low, close, volume }) => ({
    timestamp: String(toInstantMs(day) / 1000),
    ...{ open: cents(open), high: cents(high), low: cents(low), close: cents(close), volume: volume.toFixed(8) },
  }));
  return { body: { data: { pair: 'BTC/USD', ohlc } } };
}

async function binanceAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  if (query.get('symbol') !== 'BTCUSDT') return { status: 400, body: { code: -1121, msg: 'Invalid symbol.' } };
  if (path === '/api/v3/ticker/24hr') {
    const { price, before } = await lastPrice('binance', market, nowMs);
    const { bid: bidPrice, ask: askPrice } = bidAsk(price);
    const change = { priceChange: cents(price - before), priceChangePercent: ((price / before - 1) * 100).toFixed(3) };
    const prices = { lastPrice: cents(price), openPrice: cents(before), prevClosePrice: cents(before), bidPrice, askPrice };
    const sizes = {
      lastQty: '0.00100000',
      bidQty: '1.00000000',
      askQty: '1.00000000',
      volume: '14700.00000000',
      quoteVolume: '1.00000000',
    };
    const range = { highPrice: cents(price * 1.02), lowPrice: cents(price * 0.98), weightedAvgPrice: cents(price) };
    const window = { openTime: nowMs - DAY_MS, closeTime: nowMs, firstId: 1, lastId: 9, count: 9 };
    return { body: { symbol: 'BTCUSDT', ...change, ...prices, ...sizes, ...range, ...window } };
  }
  if (path !== '/api/v3/klines' || query.get('interval') !== '1d') return null;
  const limit = Math.min(1000, Number(query.get('limit') ?? 500));
  const startMs = Number(query.get('startTime') ?? 0);
  const found = within(await candles('binance', market, nowMs), startMs, Number(query.get('endTime') ?? nowMs));
  const rows = query.has('startTime') ? found.slice(0, limit) : found.slice(-limit);
  return {
    body: rows.map(({ day, open, high, low, close, volume, bought }) => [
      toInstantMs(day),
      ...[open, high, low, close, volume].map((value) => value.toFixed(8)),
      toInstantMs(day + 1) - 1,
      (volume * close).toFixed(8),
      1_500_000,
      bought.toFixed(8),
      (bought * close).toFixed(8),
      '0',
    ]),
  };
}

/** Every daily candle of a venue, oldest first; the last one is still running. */
async function candles(venue: Venue, market: Feed, nowMs: number): Promise<Candle[]> {
  const closes = await market.observations('btcClose', nowMs);
  const [highs, lows] = [await market.observations('btcHigh', nowMs), await market.observations('btcLow', nowMs)];
  const soFar = await market.rangeSoFar(nowMs);
  const shares = await market.observations('takerBuyFraction', nowMs);
  const shareOf = new Map(Array.from(shares.days, (day, index) => [day, shares.values[index]]));
  const running = { day: toDay(nowMs), value: (await market.spot(nowMs)).priceUsd };
  const published = [...Array.from(closes.days, (day, index) => ({ day, value: closes.values[index] })), running];
  const inCents = (value: number) => Number(cents(value * VENUE_FACTORS[venue]));
  return published.slice(1).flatMap(({ day, value }, index) => {
    if (day < FIRST_CANDLE[venue]) return [];
    const [open, close] = [inCents(published[index].value), inCents(value)];
    const volume = 1000 + 100 * (day % 7);
    const bought = volume * (shareOf.get(day) ?? 0.5);
    const high = Math.max(open, close, inCents(valueOn(highs, day) ?? soFar?.highUsd ?? 0));
    const low = Math.min(open, close, inCents(valueOn(lows, day) ?? soFar?.lowUsd ?? Number.MAX_SAFE_INTEGER));
    return [{ day, open, high, low, close, volume, bought }];
  });
}

/** Of a series without gaps. */
function valueOn({ days, values }: Observations, day: Day): number | undefined {
  return values[day - days[0]];
}

function within(rows: Candle[], startMs: number, endMs: number): Candle[] {
  return rows.filter(({ day }) => toInstantMs(day) >= startMs && toInstantMs(day) <= endMs);
}

/** A venue's price, that of 24 hours before, and that of the day's first minute (USD). */
async function lastPrice(venue: Venue, market: Feed, nowMs: number) {
  const at = async (atMs: number) => (await market.spot(atMs)).priceUsd * VENUE_FACTORS[venue];
  return { price: await at(nowMs), before: await at(nowMs - DAY_MS), open: await at(toInstantMs(toDay(nowMs))) };
}

function bidAsk(price: number) {
  return { bid: cents(price - 0.5), ask: cents(price + 0.5) };
}

function cents(value: number): string {
  return value.toFixed(2);
}
