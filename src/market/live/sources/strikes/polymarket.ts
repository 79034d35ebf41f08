import { DAY_MS } from '../../../../forecast/day.ts';
import { OracleError, orElse } from '../../../../platform/errors.ts';
import { isNewYorkNoon, type StrikeSnapshot, selectNearTheMoney, selectWeeklyStrikes } from '../../../strikes.ts';
import type { Provider } from '../../providers/provider.ts';
import { fetchParsed } from '../http-source.ts';
import { parseBook } from './polymarket-book.ts';
import { parseGammaEvents, parseLadder } from './polymarket-ladder.ts';
import type { StrikeSource } from './strike-source.ts';

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
  for await (const strike of listOpenStrikes(gamma, atMs)) {
    // Forecasts cover days, so hourly ladders are excluded.
    if (strike.expiresAtMs > atMs && isNewYorkNoon(strike.expiresAtMs)) strikes.set(strike.marketId, strike);
  }
  if (strikes.size === 0) throw new OracleError('FEED_UNAVAILABLE', `${gamma.title}: no strikes on bitcoin are listed`);
  return [...strikes.values()];
}

async function* listOpenStrikes(gamma: Provider, atMs: number): AsyncGenerator<StrikeSnapshot> {
  let offset = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { events, strikes } = await fetchPage(gamma, atMs, offset);
    if (events === 0) return;
    yield* strikes;
    // The provider may return smaller pages than requested.
    offset += events;
  }
}

/** The number of events of a page, and the strikes of its ladders. */
function fetchPage(gamma: Provider, atMs: number, offset: number) {
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
  return fetchParsed(gamma, { path: '/events', query }, ({ body, receivedAtMs }) => {
    const events = parseGammaEvents(body, gamma.title);
    return { events: events.length, strikes: events.flatMap((event) => parseLadder(event, gamma.title, receivedAtMs)) };
  });
}

/** Adds the order book to a strike; returns the strike as listed when the book is unavailable. */
function addBook(clob: Provider, strike: StrikeSnapshot): Promise<StrikeSnapshot> {
  const request = { path: '/book', query: { token_id: strike.yesTokenId as string } };
  return fetchParsed(clob, request, ({ body }) => parseBook(body, strike, clob.title)).catch(orElse('FEED_UNAVAILABLE', strike));
}
