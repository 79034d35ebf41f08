import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Day, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import {
  type BackfillDeps,
  type BackfillItem,
  type BackfillProgress,
  createAgreedCloseItem,
  createAgreedRangeItem,
  createLongCloseItem,
  createLongRangeItem,
  createVenueItem,
  createVenueRangeItem,
  runBackfill,
  saveRanges,
  selectFetchable,
} from '../../../../src/market/live/live-market.ts';
import { FIRST_LIVE_DAY, openLiveFeed } from '../../../../src/market/live/store.ts';
import { testDatabase } from '../../../support/database/database.ts';
import { buildCandle, createLiveDeps, createScriptedVenue, type ScriptedVenue } from './live-deps.ts';

const TODAY = parseDay('2026-03-10');
const VENUES = ['coinbase', 'kraken', 'bitstamp', 'binance'] as const;
const WINDOW_DAYS = 40;

/** Holds the engine while the tests come and go. */
const engine = await testDatabase();
afterAll(() => engine.drop());

let setup: Awaited<ReturnType<typeof createLiveDeps>>;
let parts: BackfillDeps;
beforeEach(async () => {
  setup = await createLiveDeps([...VENUES]);
  setup.clock.ms = toInstantMs(TODAY, 9);
  parts = setup.parts();
});
afterEach(() => setup.database.drop());

const options = (onProgress: (step: BackfillProgress) => void = () => {}, signal = new AbortController().signal) => ({
  backfills: parts.stores.backfills,
  onProgress,
  signal,
});
const venues = () => [
  createScriptedVenue('bitstamp', (day) => 100 + day, { from: '2011-08-18' }),
  createScriptedVenue('coinbase', (day) => 101 + day, { from: '2015-07-20' }),
  createScriptedVenue('kraken', (day) => 102 + day, { days: 719 }),
];
const closeItems = (all: ScriptedVenue[]) => [...all.map((venue) => createVenueItem(venue, parts)), createLongCloseItem(all, parts)];
const rangeItems = (all: ScriptedVenue[]) => [...all.map((venue) => createVenueRangeItem(venue, parts)), createLongRangeItem(all, parts)];

/** The items in the order of a live market. */
async function fetchAll(all: ScriptedVenue[], run = options()) {
  const ranges = rangeItems(all);
  for (const { id, from } of ranges) await parts.stores.backfills.begin(id, from);
  const missing = [...(await runBackfill(closeItems(all), run))];
  missing.push(...(await runBackfill([createAgreedCloseItem(parts), ...selectFetchable(ranges, missing)], run)));
  return [...missing, ...(await runBackfill([createAgreedRangeItem(all, parts)], run))];
}

/** An installation from before ranges: its closes are complete. */
async function installWithoutRanges(all: ScriptedVenue[]): Promise<void> {
  const known = all.map(({ getRange }) => getRange);
  for (const venue of all) venue.getRange = () => null;
  expect(await runBackfill(closeItems(all), options())).toEqual([]);
  expect(await runBackfill([createAgreedCloseItem(parts)], options())).toEqual([]);
  for (const [index, venue] of all.entries()) {
    venue.getRange = known[index];
    venue.asked.length = 0;
  }
}

const countRequests = (all: ScriptedVenue[]) => all.reduce((sum, { asked }) => sum + asked.length, 0);
const read = async (series: 'btcHigh' | 'btcLow' | 'btcClose', deps = parts) => {
  const { days, values } = await openLiveFeed(deps.stores, VENUES).observations(series, Number.MAX_SAFE_INTEGER);
  return { days: [...days], values: [...values] };
};
const findValue = async (series: 'btcHigh' | 'btcLow', day: Day) => {
  const { days, values } = await read(series);
  return values[days.indexOf(day)];
};

describe('the history of the ranges', () => {
  it('has a high and a low of each day, from the requests of the closes', async () => {
    const all = venues();
    const labels: string[] = [];
    expect(
      await fetchAll(
        all,
        options(({ label }) => labels.push(label)),
      ),
    ).toEqual([]);
    for (const series of ['btcHigh', 'btcLow'] as const) {
      const { days } = await read(series);
      expect([days[0], days.at(-1), days.length]).toEqual([FIRST_LIVE_DAY, TODAY - 1, TODAY - FIRST_LIVE_DAY]);
    }
    expect(await findValue('btcHigh', FIRST_LIVE_DAY)).toBe((100 + FIRST_LIVE_DAY) * 1.02);
    expect(await findValue('btcLow', TODAY - 1)).toBe((101 + TODAY - 1) * 0.98);
    expect(labels.filter((label) => /range/i.test(label))).toEqual(['btcRange/venues']);
    const pages = Math.ceil((TODAY - WINDOW_DAYS - FIRST_LIVE_DAY) / 300);
    expect(countRequests(all)).toBe(pages + all.length);
  });

  it('is fetched for an installation that has closes only, and advances the revision', async () => {
    const all = venues();
    await installWithoutRanges(all);
    const feed = openLiveFeed(parts.stores, VENUES);
    const at = toInstantMs(TODAY - 10, 22);
    expect((await feed.observations('btcHigh', at)).days).toHaveLength(0);
    const closes = await read('btcClose');
    const before = feed.historyRevision!();
    expect(await fetchAll(all)).toEqual([]);
    const { days } = await feed.observations('btcHigh', at);
    expect([days[0], days.at(-1), days.length]).toEqual([FIRST_LIVE_DAY, TODAY - 11, TODAY - 10 - FIRST_LIVE_DAY]);
    expect(feed.historyRevision!()).toBeGreaterThan(before);
    expect(await read('btcClose')).toEqual(closes);
    const asked = countRequests(all);
    expect(await fetchAll(all)).toEqual([]);
    expect(countRequests(all)).toBe(asked);
  });

  it('advances the revision of a reader when a gap of the past is filled', async () => {
    const all = venues();
    const late = TODAY - 20;
    for (const venue of all.slice(1))
      venue.getRange = (day, close) => (day < late ? null : { highUsd: close * 1.02, lowUsd: close * 0.98 });
    all[0].getRange = (day, close) => (day < TODAY - WINDOW_DAYS || day >= late ? { highUsd: close * 1.02, lowUsd: close * 0.98 } : null);
    await fetchAll(all);
    const feed = openLiveFeed(parts.stores, VENUES);
    const { days } = await feed.observations('btcHigh', setup.clock.ms);
    expect([...days].includes(late - 1)).toBe(false);
    const before = feed.historyRevision!();
    const { backfills } = parts.stores;
    expect(await backfills.countDone(['btcRange/venues'])).toBe(1);
    for (const venue of all.slice(0, 2)) {
      await saveRanges(parts, 'venue', venue.provider, [buildCandle(late - 1, 100, { highUsd: 101, lowUsd: 99 })]);
    }
    await createAgreedRangeItem(all, parts).fetch({ from: late - 1, to: late - 1 });
    expect([...(await feed.observations('btcHigh', setup.clock.ms)).days].includes(late - 1)).toBe(true);
    expect(feed.historyRevision!()).toBeGreaterThan(before);
  });

  it('resumes after an interruption without a page fetched twice', async () => {
    const all = venues();
    await installWithoutRanges(all);
    const stop = new AbortController();
    const interrupted = options(({ label, done }) => label === 'btcRange/history' && done > 6 && stop.abort(), stop.signal);
    await expect(fetchAll(all, interrupted)).rejects.toThrow();
    parts = setup.parts();
    expect(await fetchAll(all)).toEqual([]);
    const long = all[0].asked.filter(({ to }) => to < TODAY - WINDOW_DAYS).map(({ from }) => from);
    expect(new Set(long).size).toBe(long.length);
    expect((await read('btcHigh')).days).toHaveLength(TODAY - FIRST_LIVE_DAY);
  });

  it('of an installation that stopped within its closes has the first pages as well', async () => {
    const all = venues();
    const stop = new AbortController();
    for (const venue of all) venue.getRange = () => null;
    const interrupted = options(({ done }) => done > 6 && stop.abort(), stop.signal);
    await expect(runBackfill(closeItems(all), interrupted)).rejects.toThrow();
    for (const venue of all) venue.getRange = (_day, close) => ({ highUsd: close, lowUsd: close });
    parts = setup.parts();
    expect(await fetchAll(all)).toEqual([]);
    expect((await read('btcHigh')).days).toHaveLength(TODAY - FIRST_LIVE_DAY);
  });

  it('is complete and equal when two workers fetch it at once', async () => {
    const all = venues();
    await installWithoutRanges(all);
    const items = (): BackfillItem[] => rangeItems(all);
    await Promise.all([runBackfill(items(), options()), runBackfill(items(), options())]);
    const agreed = () => runBackfill([createAgreedRangeItem(all, parts)], options());
    expect(await Promise.all([agreed(), agreed()])).toEqual([[], []]);
    const other = setup.parts();
    for (const series of ['btcHigh', 'btcLow'] as const) {
      expect((await read(series)).days).toHaveLength(TODAY - FIRST_LIVE_DAY);
      expect(await read(series, other)).toEqual(await read(series));
    }
  });
});

describe('missing ranges', () => {
  it('of two venues are waited for, not required', async () => {
    const all = venues();
    for (const venue of all.slice(1)) venue.getClose = () => null;
    const missing = await fetchAll(all);
    expect(missing.filter(({ required }) => required)).toEqual([]);
    expect(missing.map(({ id }) => id)).toEqual(['venueClose/coinbase', 'venueClose/kraken', 'btcRange/venues']);
    // The pages of the long history come from the first venue.
    expect(all.slice(1).map(({ asked }) => asked.length)).toEqual([1, 1]);
    expect(missing.at(-1)!.reason).toBe('39 days have no agreed range, and 1 venues are complete');
    expect((await read('btcClose')).days.length).toBeGreaterThanOrEqual(TODAY - 1 - FIRST_LIVE_DAY);
    for (const venue of all.slice(1)) venue.getClose = (day) => 100 + day;
    expect(await fetchAll(all)).toEqual([]);
    expect((await read('btcHigh')).days).toHaveLength(TODAY - FIRST_LIVE_DAY);
  });

  it('of a day on complete venues stay missing', async () => {
    const all = venues();
    const bad = TODAY - 5;
    for (const venue of all) {
      const { getRange } = venue;
      venue.getRange = (day, close) => (day === bad ? null : getRange(day, close));
    }
    expect(await fetchAll(all)).toEqual([]);
    const { days } = await read('btcHigh');
    expect([days.length, days.includes(bad)]).toEqual([TODAY - FIRST_LIVE_DAY - 1, false]);
    expect((await read('btcClose')).days).toContain(bad);
  });
});
