import { describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../../src/forecast/day.ts';
import { type Feed, readSeries, type Vintage } from '../../../../src/market/feed.ts';
import { buildDailyPairs, buildObservations, createMemoryFeed } from '../memory-feed.ts';

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
