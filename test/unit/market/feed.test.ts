import { describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../src/forecast/day.ts';
import {
  computeChangePct,
  type Feed,
  isNewYorkNoon,
  isWeeklyStrike,
  millionsToUsd,
  readSeries,
  roundOrNull,
  type StrikeSnapshot,
  selectNearTheMoney,
  selectWeeklyStrikes,
  subtractOrNull,
  type Vintage,
} from '../../../src/market/feed.ts';
import { strikeSnapshot } from '../../support/market/strike-snapshot.ts';
import { buildDailyPairs, buildObservations, createMemoryFeed } from './memory-feed.ts';

describe('numbers', () => {
  it('have no binary rounding errors', () => {
    expect(roundOrNull(0.1 + 0.2, 3)).toBe(0.3);
    expect(roundOrNull(-1234.5678, 1)).toBe(-1234.6);
    expect(millionsToUsd(0.1 + 0.2)).toBe(300_000);
  });

  it.each([null, Number.NaN, Number.POSITIVE_INFINITY])('are null instead of %s', (value) => {
    expect(roundOrNull(value, 2)).toBeNull();
  });

  it('compute changes when both values are known', () => {
    expect(computeChangePct(80, 100)).toBe(25);
    expect([computeChangePct(null, 1), computeChangePct(1, null), computeChangePct(0, 1)]).toEqual([null, null, null]);
    expect([subtractOrNull(3, 5), subtractOrNull(null, 5), subtractOrNull(3, null)]).toEqual([2, null, null]);
  });
});
const DAY = 20_000;
const NOON = toInstantMs(DAY, 12);

describe('readSeries', () => {
  it('returns the last value with its age', async () => {
    const feed = createMemoryFeed({ vix: buildObservations('vix', buildDailyPairs(DAY - 9, DAY + 3)) });
    const { reading, known } = await readSeries(feed, 'vix', NOON);
    expect(reading).toEqual({
      series: 'vix',
      title: 'VIX',
      unit: '% a year',
      source: 'test vix',
      value: DAY - 1,
      observedDay: DAY - 1,
      observedAtMs: toInstantMs(DAY),
      ageDays: 1,
      stale: false,
      provisional: false,
    });
    expect(known.days).toHaveLength(9);
  });

  it.each([
    [7, false],
    [8, true],
  ])('returns a value %d days old with stale = %s', async (age, stale) => {
    const feed = createMemoryFeed({ vix: buildObservations('vix', [[DAY - age, 17]]) });
    expect((await readSeries(feed, 'vix', NOON)).reading).toMatchObject({ value: 17, ageDays: age, stale });
  });

  it('keeps the observation time when a value is delivered late or repeatedly', async () => {
    const late = buildObservations('vix', [[DAY - 2, 17]], () => NOON - 5);
    const { reading } = await readSeries(createMemoryFeed({}, { observations: async () => late }), 'vix', NOON);
    expect(reading).toMatchObject({ value: 17, observedAtMs: toInstantMs(DAY - 1), stale: false });
  });

  it('returns null only before the first value', async () => {
    expect((await readSeries(createMemoryFeed({}), 'vix', NOON)).reading).toMatchObject({
      value: null,
      observedDay: null,
      observedAtMs: null,
      ageDays: null,
      stale: true,
    });
  });

  it('returns the newest version, provisional before its publication', async () => {
    const early = buildObservations('etfFlow', [[DAY - 1, 4.2]], () => toInstantMs(DAY, 3));
    const asked: (Vintage | undefined)[] = [];
    const observations: Feed['observations'] = async (_series, _atMs, vintage) => {
      asked.push(vintage);
      return early;
    };
    const feed = createMemoryFeed({}, { observations });
    expect((await readSeries(feed, 'etfFlow', NOON - 1)).reading).toMatchObject({ value: 4.2, provisional: true });
    expect((await readSeries(feed, 'etfFlow', NOON)).reading).toMatchObject({ value: 4.2, provisional: false });
    expect(asked).toEqual(['latest', 'latest']);
  });
});
const at = (text: string) => Date.parse(text);

describe('isWeeklyStrike', () => {
  it.each([
    ['2026-03-06T17:00:00Z', true],
    ['2026-03-06T16:00:00Z', false],
    // Summer time began in New York on 8 March.
    ['2026-03-13T16:00:00Z', true],
    ['2026-03-13T17:00:00Z', false],
    ['2026-03-13T16:01:00Z', false],
    ['2026-03-14T04:00:00Z', false],
  ])('expiry %s is weekly: %s', (expiry, weekly) => {
    expect(isNewYorkNoon(at(expiry))).toBe(weekly);
    expect(isWeeklyStrike({ venue: 'polymarket', expiresAtMs: at(expiry) })).toBe(weekly);
  });

  it('is false for another day or venue', () => {
    expect(isNewYorkNoon(at('2026-03-12T16:00:00Z'))).toBe(true);
    expect(isWeeklyStrike({ venue: 'polymarket', expiresAtMs: at('2026-03-12T16:00:00Z') })).toBe(false);
    expect(isWeeklyStrike({ venue: 'kalshi', expiresAtMs: at('2026-03-13T16:00:00Z') })).toBe(false);
  });
});

describe('selectWeeklyStrikes', () => {
  const thirteenth = [1, 2].map((id) => strikeSnapshot({ marketId: String(id), expiresAtMs: at('2026-03-13T16:00:00Z') }));
  const twentieth = [3, 4].map((id) => strikeSnapshot({ marketId: String(id), expiresAtMs: at('2026-03-20T16:00:00Z') }));
  const others: StrikeSnapshot[] = [
    strikeSnapshot({ expiresAtMs: at('2026-03-14T16:00:00Z') }),
    strikeSnapshot({ venue: 'kalshi', expiresAtMs: at('2026-03-13T16:00:00Z') }),
  ];
  const all = [...others, ...twentieth, ...thirteenth];

  it.each([
    ['2026-03-08T00:00:00Z', thirteenth],
    ['2026-03-12T15:59:59Z', thirteenth],
    ['2026-03-12T16:00:00Z', twentieth],
    ['2026-03-19T16:00:00Z', []],
  ])('returns the next ladder with more than a day to expiry at %s', (now, expected) => {
    expect(selectWeeklyStrikes(all, at(now))).toEqual(expected);
  });
});

describe('selectNearTheMoney', () => {
  it('returns strikes in ascending order', () => {
    const strikes = [70, 40, 60, 50, 55].map((strikeUsd) => ({ strikeUsd }));
    expect(selectNearTheMoney(strikes, 56, 3).map(({ strikeUsd }) => strikeUsd)).toEqual([50, 55, 60]);
    expect(selectNearTheMoney(strikes, 56, 9)).toHaveLength(5);
    expect(selectNearTheMoney([], 56, 1)).toEqual([]);
  });
});
