import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import {
  AGREED_CLOSES_ID,
  type BackfillDeps,
  type BackfillProgress,
  createAgreedCloseItem,
  createLongCloseItem,
  createSeriesItem,
  createVenueItem,
  runBackfill,
} from '../../../../src/market/live/live-market.ts';
import { FIRST_LIVE_DAY, openLiveFeed } from '../../../../src/market/live/store.ts';
import { testDatabase } from '../../../support/database/database.ts';
import { createLiveDeps, createScriptedSource, createScriptedVenue } from './live-deps.ts';

const TODAY = parseDay('2026-03-10');
const VENUES = ['coinbase', 'kraken', 'bitstamp', 'binance'] as const;
const priceOf = (day: number) => 100 + day;

/** Holds the engine while the tests come and go. */
const engine = await testDatabase();
afterAll(() => engine.drop());

let setup: Awaited<ReturnType<typeof createLiveDeps>>;
let parts: BackfillDeps;
let progress: BackfillProgress[];

beforeEach(async () => {
  setup = await createLiveDeps([...VENUES]);
  setup.clock.ms = toInstantMs(TODAY, 9);
  parts = setup.parts();
  progress = [];
});
afterEach(() => setup.database.drop());

const options = (signal = new AbortController().signal) => ({
  backfills: parts.stores.backfills,
  onProgress: (step: BackfillProgress) => void progress.push(step),
  signal,
});
const closes = async () => {
  const { days, values } = await openLiveFeed(parts.stores, VENUES).observations('btcClose', Number.MAX_SAFE_INTEGER);
  return { days: [...days], values: [...values] };
};

describe('the history of a series', () => {
  it('is fetched in pages, oldest first, with progress, once each', async () => {
    const source = createScriptedSource('yahoo', (day) => day, 500);
    const item = createSeriesItem('sp500', { sources: [source], everyMs: 1 }, parts);
    expect(await runBackfill([item], options())).toEqual([]);
    const days = TODAY - parseDay('2015-01-01') + 1;
    expect(source.asked).toHaveLength(Math.ceil(days / 500));
    expect(source.asked[0].from).toBe(parseDay('2015-01-01'));
    expect(progress.at(-1)).toEqual({ done: source.asked.length, total: source.asked.length, label: 'sp500' });
    const asked = source.asked.length;
    expect(await runBackfill([item], options())).toEqual([]);
    expect(source.asked).toHaveLength(asked);
  });

  it('resumes after the last stored page in any process', async () => {
    const source = createScriptedSource('yahoo', (day) => day, 500);
    const stop = new AbortController();
    const plan = { sources: [source], everyMs: 1 };
    const interrupted = { ...options(stop.signal), onProgress: ({ done }: BackfillProgress) => done === 3 && stop.abort() };
    await expect(runBackfill([createSeriesItem('sp500', plan, parts)], interrupted)).rejects.toThrow();
    expect(source.asked).toHaveLength(3);
    parts = setup.parts();
    expect(await runBackfill([createSeriesItem('sp500', plan, parts)], options())).toEqual([]);
    const froms = source.asked.map(({ from }) => from);
    expect(new Set(froms).size).toBe(froms.length);
    const { days } = await openLiveFeed(parts.stores, VENUES).observations('sp500', setup.clock.ms);
    expect(days.length).toBe(TODAY - parseDay('2015-01-01'));
  });

  it('uses the source with a sufficient history for the old part', async () => {
    const recent = { ...createScriptedSource('okx', (day) => day, 100), history: { days: 90 } };
    const old = createScriptedSource('bybit', (day) => day + 0.5, 1_000);
    expect(await runBackfill([createSeriesItem('fundingRate', { sources: [recent, old], everyMs: 1 }, parts)], options())).toEqual([]);
    expect(old.asked[0].from).toBe(parseDay('2015-01-01'));
  });

  it('that is unavailable is reported with its reason and does not affect others', async () => {
    const dead = createScriptedSource('fred', () => null);
    dead.failure = 'HTTP 503';
    const alive = createScriptedSource('yahoo', (day) => day);
    const items = [
      createSeriesItem('us2y', { sources: [dead], everyMs: 1 }, parts),
      createSeriesItem('sp500', { sources: [alive], everyMs: 1 }, parts),
    ];
    expect(await runBackfill(items, options())).toEqual([{ id: 'us2y', required: false, reason: 'fred: HTTP 503' }]);
    dead.failure = null;
    dead.getValue = (day) => day;
    expect(await runBackfill(items, options())).toEqual([]);
  });
});

describe('the history of the price', () => {
  const venues = () => [
    createScriptedVenue('bitstamp', priceOf, { from: '2011-08-18' }),
    createScriptedVenue('coinbase', (day) => priceOf(day) + 0.1, { from: '2015-07-20' }),
    createScriptedVenue('kraken', (day) => priceOf(day) + 0.2, { days: 719 }),
  ];
  const fetchAll = async (all = venues()) => [
    ...(await runBackfill([...all.map((venue) => createVenueItem(venue, parts)), createLongCloseItem(all, parts)], options())),
    ...(await runBackfill([createAgreedCloseItem(parts)], options())),
  ];

  it('has one close per day, agreed by the venues within their window', async () => {
    expect(await fetchAll()).toEqual([]);
    const { days, values } = await closes();
    expect([days[0], days.at(-1), days.length]).toEqual([FIRST_LIVE_DAY, TODAY - 1, TODAY - FIRST_LIVE_DAY]);
    expect([values[0], values.at(-1)]).toEqual([priceOf(FIRST_LIVE_DAY), priceOf(TODAY - 1) + 0.1]);
  });

  it('carries the close over short gaps and rejects a longer gap', async () => {
    const all = venues();
    const shut = parseDay('2015-01-06');
    all[0].getClose = (day) => (day >= shut && day < shut + 3 ? null : priceOf(day));
    expect(await fetchAll(all)).toEqual([]);
    const { days, values } = await closes();
    expect(days).toHaveLength(TODAY - FIRST_LIVE_DAY);
    expect(values[days.indexOf(shut + 2)]).toBe(priceOf(shut - 1));
  });

  it('falls back to the next venue for a longer gap', async () => {
    const all = venues();
    const shut = parseDay('2018-01-06');
    all[0].getClose = (day) => (day >= shut && day < shut + 9 ? null : priceOf(day));
    expect(await fetchAll(all)).toEqual([]);
    const { days, values } = await closes();
    expect(days).toHaveLength(TODAY - FIRST_LIVE_DAY);
    expect(values[days.indexOf(shut + 2)]).toBe(priceOf(shut + 2) + 0.1);
  });

  it('is required, and reports what is missing', async () => {
    const all = venues();
    for (const venue of all) venue.getClose = () => null;
    const missing = await fetchAll(all);
    expect(missing.filter(({ required }) => required).map(({ id }) => id)).toEqual(['btcClose/history', 'btcClose/venues']);
    expect(missing[0].reason).toMatch(/no candles/);
  });

  it('has no gap when days pass between its parts', async () => {
    const all = venues();
    const items = () => [...all.map((venue) => createVenueItem(venue, parts)), createLongCloseItem(all, parts)];
    expect(await runBackfill(items(), options())).toEqual([]);
    setup.clock.ms = toInstantMs(TODAY + 3, 0);
    const { from } = await parts.stores.backfills.begin(AGREED_CLOSES_ID, parts.windowStart);
    parts = { ...setup.parts(), windowStart: from };
    await runBackfill(items(), options());
    for (const venue of all) {
      const values = Array.from({ length: 3 }, (_, index) => ({
        day: TODAY + index,
        value: venue.getClose(TODAY + index)!,
        providerAtMs: null,
      }));
      await parts.stores.observations.save('venueClose', venue.provider, values, { receivedAtMs: setup.clock.ms, backfilled: false });
    }
    expect(await runBackfill([createAgreedCloseItem(parts)], options())).toEqual([]);
    const { days } = await closes();
    expect([days.length, days.at(-1)]).toEqual([TODAY + 3 - FIRST_LIVE_DAY, TODAY + 2]);
  });

  it('is identical in an early and a late process', async () => {
    const before = openLiveFeed(parts.stores, VENUES);
    await fetchAll();
    const after = openLiveFeed(setup.parts().stores, VENUES);
    const at = toInstantMs(TODAY - 100, 22);
    expect(await before.observations('btcClose', at)).toEqual(await after.observations('btcClose', at));
    expect(await before.spot(at)).toEqual(await after.spot(at));
    expect((await after.observations('btcClose', at)).days.at(-1)).toBe(TODAY - 101);
  });
});
