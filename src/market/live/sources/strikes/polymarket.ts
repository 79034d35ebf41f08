import { DAY_MS } from '../../../../forecast/day.ts';
import { isOracleError, OracleError } from '../../../../platform/errors.ts';
import { isNewYorkNoon, type StrikeSnapshot, selectNearTheMoney, selectWeeklyStrikes } from '../../../strikes.ts';
import type { Provider } from '../../providers/provider.ts';
import { parseBook } from './polymarket-book.ts';
import { parseGammaEvents, parseLadder } from './polymarket-ladder.ts';
import type { StrikeSource } from './strike-source.ts';

/** Ladders are listed a week ahead. */
const DAYS_AHEAD = 9;
const PAGE_SIZE = 100;
/** Many hundred markets on the next minutes and hours share the tag; the latest expiries come first. */
const MAX_PAGES = 10;
const MAX_BOOKS = 11;

/** Every daily and weekly ladder ("Bitcoin above ___ on ..."); of the weekly one also the order books nearest to the money. */
export const polymarketStrikes: StrikeSource = {
  providers: ['polymarket-gamma', 'polymarket-clob'],
  async fetch({ 'polymarket-gamma': gamma, 'polymarket-clob': clob }, { spotUsd, atMs }) {
    const strikes = await fetchStrikes(gamma, atMs);
    const worthABook = new Set(selectNearTheMoney(selectWeeklyStrikes(strikes, atMs), spotUsd, MAX_BOOKS));
    return Promise.all(strikes.map((strike) => (worthABook.has(strike) ? addBook(clob, strike) : strike)));
  },
};

async function fetchStrikes(gamma: Provider, atMs: number): Promise<StrikeSnapshot[]> {
  const strikes = new Map<string, StrikeSnapshot>();
  for await (const strike of listOpenStrikes(gamma, atMs)) {
    // Hourly ladders are left out: the forecasts are of days.
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
    // Not the page size: the provider may cap its pages lower than asked.
    offset += events;
  }
}

/** How many events a page has, and the strikes of those that are ladders. */
function fetchPage(gamma: Provider, atMs: number, offset: number): Promise<{ events: number; strikes: StrikeSnapshot[] }> {
  const path = '/events';
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
  // An answer that cannot be read is a failure of the provider, too.
  return gamma.call(path, async () => {
    const { body, receivedAtMs } = await gamma.request({ path, query });
    const events = parseGammaEvents(body, gamma.title);
    return { events: events.length, strikes: events.flatMap((event) => parseLadder(event, gamma.title, receivedAtMs)) };
  });
}

/** The strike with its order book; as it is listed where its book cannot be had. */
async function addBook(clob: Provider, strike: StrikeSnapshot): Promise<StrikeSnapshot> {
  try {
    return await clob.call('/book', async () => {
      const { body } = await clob.request({ path: '/book', query: { token_id: strike.yesTokenId as string } });
      return parseBook(body, strike, clob.title);
    });
  } catch (error) {
    if (isOracleError(error, 'FEED_UNAVAILABLE')) return strike;
    throw error;
  }
}
