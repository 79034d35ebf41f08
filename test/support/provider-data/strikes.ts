import { createHash } from 'node:crypto';
import { DAY_MS, formatDay, HOUR_MS, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import { type Feed, isNewYorkNoon } from '../../../src/market/feed.ts';
import type { ProviderId } from '../../../src/market/live/provider.ts';
import type { Answers, HostRequest } from '../market/provider-host.ts';

const DAILY_VOLATILITY = 0.025;
const LADDER_STEP_USD = 1_000;
const LADDER_STEPS_EACH_SIDE = 9;
const KALSHI_STEP_USD = 250;
const KALSHI_STEPS_EACH_SIDE = 30;
/** Gamma gives no more, whatever is asked for. */
const GAMMA_PAGE_CAP = 50;

interface Moment {
  nowMs: number;
  spotUsd: number;
  /** What ladders are laid out around: the price of the day's beginning, so that they stand still through the day. */
  centreUsd: number;
}

/** What Polymarket and Kalshi say of a market at an instant. */
export function strikesAnswers(market: Feed, nowMs: number): Partial<Record<ProviderId, Answers>> {
  const moment = async (): Promise<Moment> => ({
    nowMs,
    spotUsd: (await market.spot(nowMs)).priceUsd,
    centreUsd: (await market.spot(toInstantMs(toDay(nowMs)))).priceUsd,
  });
  return {
    'polymarket-gamma': async (request) => (request.path === '/events' ? gammaEvents(await moment(), request) : null),
    'polymarket-clob': async (request) => (request.path === '/book' ? clobBook(await moment(), request) : null),
    kalshi: async (request) => (request.path === '/trade-api/v2/events' ? kalshiEvents(await moment(), request) : null),
  };
}

interface Strike {
  expiresAtMs: number;
  strikeUsd: number;
  /** Offered prices of YES; null without offers. */
  bid: number | null;
  ask: number | null;
}

function strikesOf({ nowMs, spotUsd, centreUsd }: Moment, expiresAtMs: number, stepUsd: number, eachSide: number): Strike[] {
  const centre = Math.round(centreUsd / stepUsd);
  return Array.from({ length: 2 * eachSide + 1 }, (_, index) => {
    const strikeUsd = (centre + index - eachSide) * stepUsd;
    const z = Math.log(strikeUsd / spotUsd) / (DAILY_VOLATILITY * Math.sqrt((expiresAtMs - nowMs) / DAY_MS));
    const fair = 1 / (1 + Math.exp(1.702 * z));
    return { expiresAtMs, strikeUsd, bid: offer(Math.floor(fair * 100 - 0.5)), ask: offer(Math.ceil(fair * 100 + 0.5)) };
  }).filter(({ strikeUsd }) => strikeUsd > 0);
}

function offer(cents: number): number | null {
  return cents >= 1 && cents <= 99 ? cents / 100 : null;
}

/** Expiries of the ladders at noon in New York that are still to come, and of the hourly one. */
function ladders(moment: Moment): { title: string; slug: string; strikes: Strike[] }[] {
  const days = Array.from({ length: 9 }, (_, ahead) => newYorkNoon(toDay(moment.nowMs) + ahead)).filter((ms) => ms > moment.nowMs);
  const hour = (Math.floor(moment.nowMs / HOUR_MS) + 1) * HOUR_MS;
  return [...new Set([...days, hour])].map((expiresAtMs) => {
    const date = newYork(expiresAtMs, { month: 'long', day: 'numeric' });
    const time = days.includes(expiresAtMs) ? '' : `, ${newYork(expiresAtMs, { hour: 'numeric' }).replace(' ', '')} ET`;
    const slug = `bitcoin-above-on-${`${date}-${formatDay(toDay(expiresAtMs)).slice(0, 4)}${time}`.toLowerCase().replaceAll(/[, ]+/g, '-')}`;
    const strikes = strikesOf(moment, expiresAtMs, LADDER_STEP_USD, LADDER_STEPS_EACH_SIDE);
    return { title: `Bitcoin above ___ on ${date}${time}?`, slug, strikes };
  });
}

function newYorkNoon(day: number): number {
  return [toInstantMs(day, 16), toInstantMs(day, 17)].find(isNewYorkNoon) as number;
}

function newYork(instantMs: number, format: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', ...format }).format(instantMs);
}

function gammaEvents(moment: Moment, { query }: HostRequest) {
  const { nowMs } = moment;
  const from = Date.parse(query.get('end_date_min') ?? '1970-01-01T00:00:00Z');
  const to = Date.parse(query.get('end_date_max') ?? '2100-01-01T00:00:00Z');
  const direction = query.get('ascending') === 'false' ? -1 : 1;
  const offset = Number(query.get('offset') ?? 0);
  const limit = Math.min(Number(query.get('limit') ?? 20), GAMMA_PAGE_CAP);
  const events = [...ladders(moment).map((ladder) => gammaLadder(ladder, nowMs)), ...upOrDown(nowMs)]
    .filter(({ endDate }) => Date.parse(endDate) >= from && Date.parse(endDate) <= to)
    .sort((a, b) => direction * (Date.parse(a.endDate) - Date.parse(b.endDate)));
  const answered = query.get('tag_slug') === 'bitcoin' && query.get('closed') === 'false' ? events : [];
  return { body: answered.slice(offset, offset + limit) };
}

function gammaLadder({ title, slug, strikes }: ReturnType<typeof ladders>[number], nowMs: number) {
  const endDate = isoSeconds(strikes[0].expiresAtMs);
  const description =
    'This market will resolve to "Yes" if the closing price of the minute at the time of the title is above the strike.\n\n';
  return {
    id: digits(slug, 7),
    slug,
    title,
    description,
    endDate,
    active: true,
    closed: false,
    markets: strikes.map((strike) => ({ ...gammaMarket(strike, title, nowMs), endDate, description })),
  };
}

function gammaMarket(strike: Strike, title: string, nowMs: number) {
  const words = strike.strikeUsd.toLocaleString('en-US');
  const yes = ((strike.bid ?? 0) + (strike.ask ?? 1)) / 2;
  return {
    id: marketId(strike),
    question: title.replace('___', words),
    conditionId: `0x${hash(`condition ${marketId(strike)}`)}`,
    outcomes: '["Yes", "No"]',
    outcomePrices: JSON.stringify([yes.toFixed(3), (1 - yes).toFixed(3)]),
    groupItemTitle: words,
    clobTokenIds: JSON.stringify([tokenId(strike, 'yes'), tokenId(strike, 'no')]),
    ...(strike.bid === null ? {} : { bestBid: strike.bid }),
    ...(strike.ask === null ? {} : { bestAsk: strike.ask }),
    lastTradePrice: strike.bid ?? 0,
    volume: '1520.25',
    active: true,
    closed: false,
    acceptingOrders: true,
    enableOrderBook: true,
    negRisk: false,
    orderPriceMinTickSize: 0.01,
    orderMinSize: 5,
    updatedAt: new Date(nowMs - 20_000).toISOString(),
  };
}

/** Markets on the next minutes, which carry the same tag and are no ladders. */
function upOrDown(nowMs: number) {
  const first = Math.floor(nowMs / 300_000) + 1;
  return Array.from({ length: 120 }, (_, index) => {
    const slug = `btc-updown-5m-${(first + index) * 300}`;
    return {
      id: digits(slug, 7),
      slug,
      title: 'Bitcoin Up or Down',
      endDate: isoSeconds((first + index) * 300_000),
      markets: [{ id: digits(slug, 8) }],
    };
  });
}

function clobBook(moment: Moment, { query }: HostRequest) {
  const token = query.get('token_id');
  for (const strike of ladders(moment).flatMap(({ strikes }) => strikes)) {
    const { bid, ask } = strike;
    if (token === tokenId(strike, 'yes')) return { body: book(strike, { bid, ask, nowMs: moment.nowMs, token }) };
    const flipped = { bid: ask && 1 - ask, ask: bid && 1 - bid };
    if (token === tokenId(strike, 'no')) return { body: book(strike, { ...flipped, nowMs: moment.nowMs, token }) };
  }
  return { status: 404, body: { error: 'No orderbook exists for the requested token id' } };
}

function book(strike: Strike, { bid, ask, nowMs, token }: { bid: number | null; ask: number | null; nowMs: number; token: string }) {
  return {
    market: `0x${hash(`condition ${marketId(strike)}`)}`,
    asset_id: token,
    timestamp: String(nowMs - 1_500),
    hash: hash(`${token} ${nowMs}`).slice(0, 40),
    bids: levels(bid, -1),
    asks: levels(ask, 1),
    min_order_size: '5',
    tick_size: '0.01',
    neg_risk: false,
    last_trade_price: (bid ?? 0.5).toFixed(3),
  };
}

/** Worst first, the best level last. */
function levels(best: number | null, direction: 1 | -1): { price: string; size: string }[] {
  if (best === null) return [];
  const cents = Math.round(best * 100);
  return [3, 2, 1, 0]
    .map((away) => ({ cents: cents + direction * away, size: `${400 + 250 * away}.5` }))
    .filter((level) => level.cents >= 1 && level.cents <= 99)
    .map((level) => ({ price: (level.cents / 100).toFixed(2), size: level.size }));
}

function kalshiEvents(moment: Moment, { query }: HostRequest) {
  const hour = (Math.floor(moment.nowMs / HOUR_MS) + 1) * HOUR_MS;
  const fives = Array.from({ length: 9 }, (_, ahead) => newYorkNoon(toDay(moment.nowMs) + ahead) + 5 * HOUR_MS);
  const days = fives.filter((ms) => ms > moment.nowMs && ms !== hour);
  const friday = days.slice(1).find((ms) => newYork(ms, { weekday: 'short' }) === 'Fri') as number;
  const wanted = query.get('series_ticker') === 'KXBTCD' && query.get('status') === 'open';
  const events = wanted ? [...new Set([friday, days[0], hour])].map((expiry) => kalshiEvent(moment, expiry, query)) : [];
  const offset = Number(Buffer.from(query.get('cursor') ?? '', 'base64').toString() || 0);
  const end = offset + Math.min(Number(query.get('limit') ?? 100), 200);
  return { body: { cursor: end < events.length ? Buffer.from(String(end)).toString('base64') : '', events: events.slice(offset, end) } };
}

function kalshiEvent(moment: Moment, expiry: number, query: URLSearchParams) {
  const [month, date, year] = newYork(expiry, { month: 'short', day: '2-digit', year: '2-digit' }).split(/[ ,]+/);
  const hour = newYork(expiry, { hour: '2-digit', hourCycle: 'h23' });
  const ticker = `KXBTCD-${year}${month.toUpperCase()}${date}${hour}`;
  const title = `Bitcoin price on ${newYork(expiry, { month: 'short', day: 'numeric', year: 'numeric' })}?`;
  const strikes = strikesOf(moment, expiry, KALSHI_STEP_USD, KALSHI_STEPS_EACH_SIDE);
  const markets = strikes.map((strike) => kalshiMarket(strike, ticker, title));
  return { event_ticker: ticker, series_ticker: 'KXBTCD', title, ...(query.get('with_nested_markets') === 'true' ? { markets } : {}) };
}

function kalshiMarket({ strikeUsd, expiresAtMs, bid, ask }: Strike, event: string, title: string) {
  const floor = strikeUsd - 0.01;
  const words = `$${strikeUsd.toLocaleString('en-US')} or above`;
  const dollars = (price: number) => price.toFixed(4);
  return {
    ticker: `${event}-T${floor}`,
    event_ticker: event,
    title,
    yes_sub_title: words,
    no_sub_title: words,
    close_time: isoSeconds(expiresAtMs),
    floor_strike: floor,
    strike_type: 'greater',
    status: 'active',
    market_type: 'binary',
    rules_primary: `If the average of the last minute before the close is above ${floor}, then the market resolves to Yes.`,
    yes_bid_dollars: dollars(bid ?? 0),
    yes_ask_dollars: dollars(ask ?? 1),
    no_bid_dollars: dollars(ask === null ? 0 : 1 - ask),
    no_ask_dollars: dollars(bid === null ? 1 : 1 - bid),
    last_price_dollars: dollars(bid ?? 0),
    yes_bid_size_fp: '120.00',
    result: '',
  };
}

function marketId({ expiresAtMs, strikeUsd }: Strike): string {
  return digits(`market ${expiresAtMs} ${strikeUsd}`, 9);
}

function tokenId(strike: Strike, side: 'yes' | 'no'): string {
  return digits(`${side} ${marketId(strike)}`, 77);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A decimal number of so many digits that depends on the text only. */
function digits(text: string, count: number): string {
  return `1${BigInt(`0x${hash(text)}`)
    .toString()
    .padStart(78, '0')
    .slice(-(count - 1))}`;
}

function isoSeconds(instantMs: number): string {
  return new Date(instantMs).toISOString().replace('.000Z', 'Z');
}
