import { isOracleError, OracleError } from '../../../errors.ts';
import { DAY_MS } from '../../../forecast/day.ts';
import { isNewYorkNoon, nearestTheMoney, type StrikeSnapshot, weeklyStrikes } from '../../strikes.ts';
import type { Provider } from '../provider.ts';
import { readBook } from './polymarket-book.ts';
import { type GammaEvent, readEvents, readLadder } from './polymarket-ladder.ts';
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
    const strikes = await listed(gamma, atMs);
    const worthABook = new Set(nearestTheMoney(weeklyStrikes(strikes, atMs), spotUsd, MAX_BOOKS));
    return Promise.all(strikes.map((strike) => (worthABook.has(strike) ? withBook(clob, strike) : strike)));
  },
};

async function listed(gamma: Provider, atMs: number): Promise<StrikeSnapshot[]> {
  const strikes = new Map<string, StrikeSnapshot>();
  for await (const { event, receivedAtMs } of eventsOf(gamma, atMs)) {
    for (const strike of readLadder(event, gamma.title, receivedAtMs)) {
      // Hourly ladders are left out: the forecasts are of days.
      if (strike.expiresAtMs > atMs && isNewYorkNoon(strike.expiresAtMs)) strikes.set(strike.marketId, strike);
    }
  }
  if (strikes.size === 0) throw new OracleError('FEED_UNAVAILABLE', `${gamma.title}: no strikes on bitcoin are listed`);
  return [...strikes.values()];
}

async function* eventsOf(gamma: Provider, atMs: number): AsyncGenerator<{ event: GammaEvent; receivedAtMs: number }> {
  let offset = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { body, receivedAtMs } = await gamma.request({
      path: '/events',
      query: {
        tag_slug: 'bitcoin',
        closed: 'false',
        end_date_min: new Date(atMs).toISOString(),
        end_date_max: new Date(atMs + DAYS_AHEAD * DAY_MS).toISOString(),
        order: 'endDate',
        ascending: 'false',
        limit: PAGE_SIZE,
        offset,
      },
    });
    const events = readEvents(body, gamma.title);
    if (events.length === 0) return;
    for (const event of events) yield { event, receivedAtMs };
    // Not the page size: the provider may cap its pages lower than asked.
    offset += events.length;
  }
}

/** The strike with its order book; as it is listed where its book cannot be had. */
async function withBook(clob: Provider, strike: StrikeSnapshot): Promise<StrikeSnapshot> {
  try {
    const { body } = await clob.request({ path: '/book', query: { token_id: strike.yesTokenId as string } });
    return readBook(body, strike, clob.title);
  } catch (error) {
    if (isOracleError(error, 'FEED_UNAVAILABLE')) return strike;
    throw error;
  }
}
