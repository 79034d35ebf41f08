import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Day, MINUTE_MS, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { getSignalTimeMs } from '../../../../src/market/feed.ts';
import type { LiveMarket } from '../../../../src/market/live/live-market.ts';
import { LIVE_INDEXES } from '../../../../src/market/live/store.ts';
import { createMarket } from '../../../../src/market/market.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { hostedMarket, openHostedMarket } from '../../../support/market/live-host.ts';
import { type Answers, answersOf, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { venuesAnswers } from '../../../support/provider-data/venues.ts';

const TODAY = parseDay('2026-03-11');
type VenueId = 'coinbase' | 'kraken' | 'bitstamp' | 'binance';
/** Places of high and low in a candle of each venue. */
const COLUMNS = { coinbase: [2, 1], kraken: [2, 3], bitstamp: ['high', 'low'], binance: [2, 3] } as const;
/** Changes high and low, or removes them (null), of a venue's candle. */
type Damage = (range: [high: number, low: number]) => [high: unknown, low: unknown];
const damages = new Map<string, Damage>();

let host: ProviderHost;
let database: TestDatabase;
let live: LiveMarket;
const clock = { ms: toInstantMs(TODAY, 15) };
const now = () => clock.ms;
const log = createLog({ level: 'silent', secrets: [] });
const open = () => openHostedMarket({ host, db: database.db, log, now });

beforeAll(async () => {
  const group = (...at: Parameters<typeof venuesAnswers>) =>
    Object.fromEntries(Object.entries(venuesAnswers(...at)).map(([id, answers]) => [id, damaged(id as VenueId, answers)]));
  host = await startProviderHost(answersOf(hostedMarket, [group]), now);
  database = await testDatabase();
  await ensureIndexes(database.db, LIVE_INDEXES);
  damages.set(`kraken/${TODAY - 9}`, ([high, low]) => [high * 3, low]);
  damages.set(`bitstamp/${TODAY - 8}`, ([high, low]) => [low, high]);
  damages.set(`binance/${TODAY - 7}`, ([, low]) => [null, low]);
  for (const id of Object.keys(COLUMNS)) damages.set(`${id}/${TODAY - 6}`, () => ['none', null]);
  live = open();
  const missing = await live.fetchHistory(() => {});
  expect(missing.filter(({ id, required }) => required || /btc|venue/.test(id))).toEqual([]);
});
beforeEach(() => damages.clear());
afterAll(async () => {
  await host.close();
  await database.drop();
});

/** The answers of a venue, with the candles of some days damaged. */
function damaged(venue: VenueId, answers: Answers): Answers {
  return async (request) => {
    const answer = await answers(request);
    const rows = answer === null ? null : findCandles(answer.body);
    for (const row of rows ?? []) {
      const [high, low] = COLUMNS[venue];
      const opensAt = Number(row[0] ?? row.timestamp);
      const day = Math.floor((opensAt > 1e11 ? opensAt / 1_000 : opensAt) / 86_400);
      const damage = damages.get(`${venue}/${day}`);
      if (damage !== undefined) [row[high], row[low]] = damage([Number(row[high]), Number(row[low])]);
    }
    return answer;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the four shapes of candles
function findCandles(body: any): Record<string | number, unknown>[] | null {
  const rows = Array.isArray(body) ? body : (body?.data?.ohlc ?? body?.result?.XXBTZUSD);
  return Array.isArray(rows) ? rows : null;
}

async function rangeOf(feed: LiveMarket['feed'] | typeof hostedMarket, day: Day) {
  const [high, low] = [await feed.observations('btcHigh', clock.ms), await feed.observations('btcLow', clock.ms)];
  return { highUsd: high.values[high.days.indexOf(day)], lowUsd: low.values[low.days.indexOf(day)] };
}

async function expectTruth(day: Day): Promise<void> {
  const [found, truth] = [await rangeOf(live.feed, day), await rangeOf(hostedMarket, day)];
  expect(Math.abs(found.highUsd / truth.highUsd - 1), `high of ${day}`).toBeLessThan(0.001);
  expect(Math.abs(found.lowUsd / truth.lowUsd - 1), `low of ${day}`).toBeLessThan(0.001);
}

const lastError = async (venue: VenueId) => (await live.feed.providerHealth()).find(({ provider }) => provider === venue)!.lastError;

describe('ranges of damaged candles', () => {
  it.each([
    ['a bad tick at one venue', 9],
    ['a high below the low at one venue', 8],
    ['a missing high at one venue', 7],
  ])('are those of the other venues after %s', async (_, daysAgo) => {
    await expectTruth(TODAY - daysAgo);
  });

  it('are missing when no venue has one, while the close is agreed', async () => {
    expect(await rangeOf(live.feed, TODAY - 6)).toEqual({ highUsd: undefined, lowUsd: undefined });
    expect((await createMarket(live.feed).dailyClose(TODAY - 6, clock.ms)).venues).toHaveLength(4);
    const { frame } = await createMarket(live.feed).inputs(TODAY - 1, getSignalTimeMs(TODAY - 1));
    expect([frame.high.at(-6), Number.isFinite(frame.close.at(-6))]).toEqual([Number.NaN, true]);
    expect(frame.high.at(-7)).toBeGreaterThan(frame.low.at(-7)!);
  });

  it('are reported in the health of the venue until its candles are valid', async () => {
    expect(await lastError('kraken')).toMatch(/^Kraken: the range of 2026-03-05 is missing or does not fit the candle$/);
    damages.set(`kraken/${TODAY}`, ([high, low]) => [low, high]);
    await live.collectPrices();
    expect(await lastError('kraken')).toMatch(/2026-03-11/);
    expect(await rangeSoFarError()).toBeLessThan(0.001);
    damages.clear();
    clock.ms = toInstantMs(TODAY + 1) + MINUTE_MS;
    await live.collect();
    clock.ms += 4 * MINUTE_MS;
    await live.collectPrices();
    expect(await lastError('kraken')).toBeNull();
    expect((await live.feed.providerHealth()).every(({ circuit, provider }) => circuit === 'closed' || !(provider in COLUMNS))).toBe(true);
    await expectTruth(TODAY);
  });

  it('of the running day are equal in another process, and missing while the venues are down', async () => {
    clock.ms = getSignalTimeMs(TODAY + 1) - MINUTE_MS;
    await live.collectPrices();
    expect(await rangeSoFarError()).toBeLessThan(0.001);
    clock.ms += MINUTE_MS;
    const inputs = async (market: LiveMarket) => createMarket(market.feed).inputs(TODAY + 1, clock.ms);
    const [here, there] = [await inputs(live), await inputs(open())];
    expect(here.frame.high.at(-1)).toBe((await live.feed.rangeSoFar(clock.ms))!.highUsd);
    expect(there.rangesDigest).toBe(here.rangesDigest);
    for (const venue of Object.keys(COLUMNS) as VenueId[]) host.fault(venue, 'down');
    clock.ms += 15 * MINUTE_MS;
    await live.collectPrices();
    expect(await live.feed.rangeSoFar(clock.ms)).toBeNull();
    for (const venue of Object.keys(COLUMNS) as VenueId[]) host.heal(venue);
  });
});

async function rangeSoFarError(): Promise<number> {
  const [found, truth] = [(await live.feed.rangeSoFar(clock.ms))!, (await hostedMarket.rangeSoFar(clock.ms))!];
  return Math.max(Math.abs(found.highUsd / truth.highUsd - 1), Math.abs(found.lowUsd / truth.lowUsd - 1));
}
