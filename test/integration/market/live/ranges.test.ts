import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Day, HOUR_MS, MINUTE_MS, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { getSignalTimeMs, type PriceRange } from '../../../../src/market/feed.ts';
import { AGREED_RANGES_ID, createClosesPoll, createRangePoll, type Poll } from '../../../../src/market/live/collect.ts';
import { type BackfillDeps, runDuePolls } from '../../../../src/market/live/live-market.ts';
import { openLiveFeed } from '../../../../src/market/live/store.ts';
import { testDatabase } from '../../../support/database/database.ts';
import { buildCandle, createLiveDeps, createScriptedVenue, type ScriptedVenue } from './live-deps.ts';

const VENUES = ['coinbase', 'kraken', 'bitstamp', 'binance'] as const;
const DAY = parseDay('2026-03-10');
const OFFSETS = { coinbase: 0, kraken: 1, bitstamp: -1, binance: 2 };
const RANGE = { highUsd: 82_000, lowUsd: 78_000 };

/** Holds the engine while the tests come and go. */
const engine = await testDatabase();
afterAll(() => engine.drop());

let setup: Awaited<ReturnType<typeof createLiveDeps>>;
let parts: BackfillDeps;
beforeEach(async () => {
  setup = await createLiveDeps([...VENUES]);
  parts = setup.parts();
});
afterEach(() => setup.database.drop());

const run = (...polls: Poll[]) => runDuePolls(polls, { polls: parts.stores.polls, log: setup.log, now: setup.now });
const feed = (deps = parts) => openLiveFeed(deps.stores, VENUES);
const shifted = ({ highUsd, lowUsd }: PriceRange, by: number): PriceRange => ({ highUsd: highUsd + by, lowUsd: lowUsd + by });

describe('the daily ranges', () => {
  const priceOf = (day: Day) => 80_000 + day - DAY;
  const venues = () =>
    VENUES.map((id) => {
      const getClose = (day: Day) => (setup.clock.ms >= toInstantMs(day + 1) ? priceOf(day) + OFFSETS[id] : null);
      const venue = createScriptedVenue(id, getClose, { days: 700 });
      venue.getRange = () => shifted(RANGE, OFFSETS[id]);
      return venue;
    });
  const agreed = async (deps = parts) => {
    const [high, low] = [await feed(deps).observations('btcHigh', setup.clock.ms), await feed(deps).observations('btcLow', setup.clock.ms)];
    expect(high.days).toEqual(low.days);
    return Array.from(high.days, (day, index) => [day, high.values[index], low.values[index]]);
  };
  const lastClose = async () => (await feed().observations('btcClose', setup.clock.ms)).days.at(-1);
  /** A complete backfill of closes and ranges up to two days ago. */
  const begin = async () => {
    setup.clock.ms = toInstantMs(DAY, 1);
    for (const [stream, value] of [['btcClose', priceOf(DAY - 2)] as const, ['btcHigh', 1] as const, ['btcLow', 1] as const]) {
      const values = [{ day: DAY - 2, value, providerAtMs: null }];
      await parts.stores.observations.save(stream, 'venues', values, { receivedAtMs: setup.clock.ms, backfilled: true });
    }
    await parts.stores.backfills.begin(AGREED_RANGES_ID, DAY - 2);
    await parts.stores.backfills.finish(AGREED_RANGES_ID);
  };
  const before = [DAY - 2, 1, 1];

  it('are the medians of the agreeing venues, with the candles of the closes', async () => {
    await begin();
    const four = venues();
    four[3].getClose = () => null;
    await run(createClosesPoll(four, parts));
    expect(await agreed()).toEqual([before, [DAY - 1, RANGE.highUsd, RANGE.lowUsd]]);
    expect(four.map(({ asked }) => asked.length)).toEqual([1, 1, 1, 1]);
  });

  it('exclude the bad tick of one venue', async () => {
    await begin();
    const four = venues();
    four[0].getRange = () => ({ highUsd: 120_000, lowUsd: 100 });
    await run(createClosesPoll(four, parts));
    expect(await agreed()).toEqual([before, [DAY - 1, RANGE.highUsd + 1, RANGE.lowUsd + 1]]);
  });

  it('wait for a third venue until 20:00 of the next day, then accept two', async () => {
    await begin();
    const four = venues();
    four[0].getRange = four[3].getRange = () => null;
    const poll = createClosesPoll(four, parts);
    await run(poll);
    expect([await agreed(), await lastClose()]).toEqual([[before], DAY - 1]);
    setup.clock.ms = toInstantMs(DAY, 19);
    await run(poll);
    expect(await agreed()).toEqual([before]);
    setup.clock.ms = toInstantMs(DAY, 20);
    await run(poll);
    expect(await agreed()).toEqual([before, [DAY - 1, RANGE.highUsd, RANGE.lowUsd]]);
    expect(setup.lines).toEqual([]);
  });

  it.each([
    ['only one venue has one', [null, null, null, RANGE]],
    ['no venue has one', [null, null, null, null]],
    ['no two venues agree', [null, null, RANGE, shifted(RANGE, 8_000)]],
  ])('stay missing, and closes continue, when %s', async (_, found) => {
    await begin();
    const four = venues();
    for (const [index, venue] of four.entries()) venue.getRange = () => found[index];
    const poll = createClosesPoll(four, parts);
    for (setup.clock.ms = toInstantMs(DAY, 1); setup.clock.ms < toInstantMs(DAY + 1); setup.clock.ms += HOUR_MS) await run(poll);
    expect([await agreed(), await lastClose()]).toEqual([[before], DAY - 1]);
    for (const [index, venue] of four.entries()) venue.getRange = venues()[index].getRange;
    setup.clock.ms = toInstantMs(DAY + 1, 1);
    await run(poll);
    expect([await agreed(), await lastClose()]).toEqual([[before, [DAY, RANGE.highUsd + 0.5, RANGE.lowUsd + 0.5]], DAY]);
    expect(setup.lines).toEqual([]);
  });

  it('are not read from a venue with clock skew', async () => {
    await begin();
    for (const id of ['coinbase', 'kraken'] as const) setup.skewMs[id] = -45_000;
    await run(createClosesPoll(venues(), parts));
    expect(await agreed()).toEqual([before]);
  });

  it('are not agreed by a poll before their backfill', async () => {
    setup.clock.ms = toInstantMs(DAY, 1);
    const values = [{ day: DAY - 2, value: priceOf(DAY - 2), providerAtMs: null }];
    await parts.stores.observations.save('btcClose', 'venues', values, { receivedAtMs: setup.clock.ms, backfilled: true });
    await run(createClosesPoll(venues(), parts));
    expect([await agreed(), await lastClose()]).toEqual([[], DAY - 1]);
  });

  it('are agreed once by two workers, and not changed by a late venue', async () => {
    await begin();
    const four = venues();
    const { getRange } = four[3];
    four[3].getRange = () => null;
    const other = setup.parts();
    await Promise.all([run(createClosesPoll(four, parts)), run(createClosesPoll(four, other))]);
    const found = await agreed();
    expect(found).toEqual([before, [DAY - 1, RANGE.highUsd, RANGE.lowUsd]]);
    four[3].getRange = getRange;
    setup.clock.ms += HOUR_MS;
    await run(createClosesPoll(four, other));
    expect([await agreed(), await agreed(setup.parts())]).toEqual([found, found]);
  });

  it('count as known since their reception', async () => {
    await begin();
    const atMs = setup.clock.ms;
    await run(createClosesPoll(venues(), parts));
    const known = async (ms: number) => (await feed().observations('btcHigh', ms)).days.at(-1);
    expect([await known(atMs - 1), await known(atMs)]).toEqual([DAY - 2, DAY - 1]);
    expect(await feed().nextChangeAt('btcHigh', atMs)).toBe(atMs + HOUR_MS);
  });
});

describe('the range so far', () => {
  const venues = (...ranges: (PriceRange | null)[]) =>
    VENUES.map((id, index) => {
      const venue = createScriptedVenue(id, () => null, { days: 700 });
      setRunning(venue, ranges[index] ?? null);
      return venue;
    });
  const setRunning = (venue: ScriptedVenue, range: PriceRange | null, day = DAY) => {
    venue.running = buildCandle(day, 80_000, range, false);
  };
  const rangeAt = (atMs: number, deps = parts) => feed(deps).rangeSoFar(atMs);
  const messages = () => setup.lines.map(({ msg, feed: id }) => `${id}: ${msg}`);

  it('is the median of the venues in agreement, from one request each', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const four = venues(RANGE, shifted(RANGE, 100), shifted(RANGE, 200), { highUsd: 120_000, lowUsd: 100 });
    await run(createRangePoll(four, parts));
    expect(await rangeAt(setup.clock.ms)).toEqual(shifted(RANGE, 100));
    expect(four.map(({ asked }) => asked)).toEqual(Array(4).fill([{ from: DAY, to: DAY }]));
  });

  it.each([
    ['two venues in agreement suffice', [RANGE, null, shifted(RANGE, 100), null], shifted(RANGE, 50)],
    ['one venue does not', [RANGE], null],
    ['two that differ do not', [RANGE, shifted(RANGE, 8_000)], null],
    ['no venue has one', [], null],
  ])('without a quorum: %s', async (_, ranges, expected) => {
    setup.clock.ms = toInstantMs(DAY, 9);
    await run(createRangePoll(venues(...ranges), parts));
    expect(await rangeAt(setup.clock.ms)).toEqual(expected);
    expect(messages()).toEqual(expected === null ? ['rangeSoFar: feed failed: what is known of it stays'] : []);
  });

  it('names the reason of each venue when none answers, and returns', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const four = venues();
    for (const venue of four) venue.running = null;
    const poll = createRangePoll(four, parts);
    await run(poll);
    expect((await parts.stores.polls.find('rangeSoFar'))?.error).toMatch(/range of 2026-03-10 so far: coinbase: no candles; kraken: no/);
    for (const venue of four) setRunning(venue, RANGE);
    setup.clock.ms += MINUTE_MS;
    await run(poll);
    expect(await rangeAt(setup.clock.ms)).toEqual(RANGE);
    expect(messages()).toEqual(['rangeSoFar: feed failed: what is known of it stays', 'rangeSoFar: feed is back']);
  });

  it('excludes the candle of another day and a venue with clock skew', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const four = venues(RANGE, RANGE, shifted(RANGE, 50), shifted(RANGE, 50));
    setRunning(four[0], RANGE, DAY - 1);
    setup.skewMs.kraken = 45_000;
    await run(createRangePoll(four, parts));
    expect(await rangeAt(setup.clock.ms)).toEqual(shifted(RANGE, 50));
  });

  it('is a minute old at the signal, and runs every five minutes', async () => {
    const four = venues(RANGE, RANGE, RANGE);
    const poll = createRangePoll(four, parts);
    for (setup.clock.ms = toInstantMs(DAY, 20); setup.clock.ms < getSignalTimeMs(DAY); setup.clock.ms += MINUTE_MS) await run(poll);
    const { asked } = four[0];
    expect(asked.length).toBeLessThanOrEqual(20);
    const docs = await setup.database.db.collection('running_ranges').find().sort({ _id: -1 }).toArray();
    expect([docs.length, docs[0].receivedAtMs]).toEqual([asked.length, getSignalTimeMs(DAY) - MINUTE_MS]);
  });

  it('is not used when older than 15 minutes, of the day before, or received later', async () => {
    setup.clock.ms = toInstantMs(DAY, 23) + 50 * MINUTE_MS;
    await run(createRangePoll(venues(RANGE, RANGE, RANGE), parts));
    const atMs = setup.clock.ms;
    expect(await rangeAt(atMs - 1)).toBeNull();
    expect(await rangeAt(atMs + 9 * MINUTE_MS)).toEqual(RANGE);
    expect(await rangeAt(toInstantMs(DAY + 1))).toBeNull();
    setup.clock.ms = toInstantMs(DAY + 1, 12);
    const four = venues();
    for (const venue of four) setRunning(venue, RANGE, DAY + 1);
    await run(createRangePoll(four, parts));
    expect(await rangeAt(setup.clock.ms + 15 * MINUTE_MS)).toEqual(RANGE);
    expect(await rangeAt(setup.clock.ms + 15 * MINUTE_MS + 1)).toBeNull();
  });

  it('of an earlier instant is the range known then, in any process', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const four = venues(RANGE, RANGE, RANGE);
    await run(createRangePoll(four, parts));
    const early = setup.clock.ms;
    setup.clock.ms += 5 * MINUTE_MS;
    for (const venue of four) setRunning(venue, shifted(RANGE, 500));
    const other = setup.parts();
    await Promise.all([run(createRangePoll(four, parts)), run(createRangePoll(four, other))]);
    expect(four[0].asked).toHaveLength(2);
    for (const deps of [parts, other]) {
      expect(await rangeAt(early + MINUTE_MS, deps)).toEqual(RANGE);
      expect(await rangeAt(setup.clock.ms, deps)).toEqual(shifted(RANGE, 500));
    }
  });
});
