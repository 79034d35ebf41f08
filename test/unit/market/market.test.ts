import { describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../src/forecast/day.ts';
import { getSignalTimeMs } from '../../../src/market/feed.ts';
import { computeInputsDigest } from '../../../src/market/inputs.ts';
import { createMarket } from '../../../src/market/market.ts';
import { buildDailyPairs, buildObservations, createMemoryFeed } from './memory-feed.ts';

const FIRST = 16_000;
const DAY = FIRST + 100;
const AT = getSignalTimeMs(DAY);

const series = {
  btcClose: buildObservations('btcClose', buildDailyPairs(FIRST, DAY + 10)),
  fearGreed: buildObservations(
    'fearGreed',
    buildDailyPairs(FIRST, DAY - 2, () => 30),
  ),
  sp500: buildObservations('sp500', buildDailyPairs(FIRST, DAY)),
  etfFlow: buildObservations(
    'etfFlow',
    buildDailyPairs(FIRST, DAY, () => 1.1),
  ),
  gold: buildObservations('gold', buildDailyPairs(FIRST, DAY - 20)),
};

describe('spot', () => {
  it('throws for a live price older than 15 minutes, with its age', async () => {
    const aged = (minutes: number) =>
      createMemoryFeed(series, {
        spot: async (atMs) => ({ priceUsd: 1, observedAtMs: atMs - minutes * 60_000, source: 'kraken', change24hPct: null }),
      });
    await expect(createMarket(aged(15)).spot(AT)).resolves.toMatchObject({ priceUsd: 1 });
    await expect(createMarket(aged(16)).spot(AT)).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
      message: 'The last price from kraken is 16 minutes old, the limit is 15',
    });
    await expect(createMarket({ ...aged(900), kind: 'csv' }).spot(AT)).resolves.toMatchObject({ priceUsd: 1 });
  });

  it('queries the feed once a minute', async () => {
    const feed = createMemoryFeed(series);
    const market = createMarket(feed);
    for (const atMs of [AT, AT + 30_000, AT + 59_999, AT + 60_000]) await market.spot(atMs);
    expect(feed.calls).toEqual(['spot', 'spot']);
  });
});

describe('inputs', () => {
  it('last row has the price at the instant', async () => {
    const inputs = await createMarket(createMemoryFeed(series)).inputs(DAY, AT);
    expect(inputs.day).toBe(DAY);
    expect(inputs.spot).toMatchObject({ priceUsd: 1000 + DAY, observedAtMs: AT });
    expect([...inputs.frame.close.slice(-2)]).toEqual([DAY - 1, 1000 + DAY]);
    expect(inputs.digest).toBe(computeInputsDigest(inputs.frame));
  });

  it('last row has the close of a past day', async () => {
    const inputs = await createMarket(createMemoryFeed(series)).inputs(DAY, toInstantMs(DAY + 1, 3));
    expect(inputs.spot).toMatchObject({ priceUsd: DAY, observedAtMs: toInstantMs(DAY + 1) });
    expect(inputs.frame.close.at(-1)).toBe(DAY);
  });

  it('reports source, age and masking of each input', async () => {
    const { sources } = await createMarket(createMemoryFeed(series)).inputs(DAY, AT);
    const bySeries = Object.fromEntries(sources.map((entry) => [entry.series, entry]));
    expect(sources).toHaveLength(12);
    expect(sources[0]).toEqual({ series: 'btcClose', source: 'memory', observedDay: DAY, availableAtMs: AT, masked: false });
    expect(bySeries.fearGreed).toMatchObject({ observedDay: DAY - 2, availableAtMs: toInstantMs(DAY - 2), masked: false });
    expect(bySeries.etfFlow).toMatchObject({ observedDay: DAY - 1, masked: false });
    expect(bySeries.gold).toMatchObject({ observedDay: DAY - 20, masked: true });
    expect(bySeries.pmi).toEqual({ series: 'pmi', source: 'test pmi', observedDay: null, availableAtMs: null, masked: true });
  });

  it('throw without a price, without history and before the day', async () => {
    const market = createMarket(createMemoryFeed(series));
    await expect(market.inputs(FIRST - 1, getSignalTimeMs(FIRST - 1))).rejects.toMatchObject({ code: 'HISTORY_TOO_SHORT' });
    await expect(market.inputs(DAY + 1, AT)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
    await expect(market.inputs(DAY + 11, toInstantMs(DAY + 12))).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
    const late = createMemoryFeed(series, { spot: async () => ({ priceUsd: 1, observedAtMs: 0, source: 'x', change24hPct: null }) });
    await expect(createMarket(late).inputs(DAY, AT)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
  });

  it('are rebuilt after a failure of the feed', async () => {
    let healthy = false;
    const good = createMemoryFeed(series);
    const coverage = () => (healthy ? good.coverage() : Promise.reject(new Error('down')));
    const market = createMarket({ ...good, coverage });
    await expect(market.inputs(DAY, AT)).rejects.toThrow('down');
    healthy = true;
    await expect(market.inputs(DAY, AT)).resolves.toMatchObject({ day: DAY });
  });
});

describe('dailyClose', () => {
  it('returns the median with its venues and caches it', async () => {
    const feed = createMemoryFeed(series);
    const market = createMarket(feed);
    const close = { day: DAY, priceUsd: DAY, venues: ['a', 'b', 'c'], deviationBps: 0 };
    expect(await market.dailyClose(DAY, toInstantMs(DAY + 1))).toEqual(close);
    expect(await market.dailyClose(DAY, toInstantMs(DAY + 9))).toEqual(close);
    expect(feed.calls).toEqual(['dailyCloses']);
  });

  it('throws before the end of the day, even after a later query', async () => {
    const market = createMarket(createMemoryFeed(series));
    await market.dailyClose(DAY, toInstantMs(DAY + 1));
    await expect(market.dailyClose(DAY, toInstantMs(DAY + 1) - 1)).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
      message: 'The candle of 2014-01-30 closes at 2014-01-31T00:00:00.000Z',
    });
  });

  it('throws without the quorum of the feed kind', async () => {
    const two = createMemoryFeed(series, { dailyCloses: async () => [1, 1.001].map((priceUsd, i) => ({ venue: `v${i}`, priceUsd })) });
    await expect(createMarket(two).dailyClose(DAY, toInstantMs(DAY + 1))).rejects.toThrow(
      /^Close of 2014-01-30: 2 of the required 3 venues/,
    );
    await expect(createMarket({ ...two, kind: 'simulated' }).dailyClose(DAY, toInstantMs(DAY + 1))).resolves.toMatchObject({
      priceUsd: 1.0005,
    });
    await expect(createMarket(two, { quorum: { minVenues: 2 } }).dailyClose(DAY, toInstantMs(DAY + 1))).resolves.toMatchObject({
      day: DAY,
    });
  });
});

describe('health', () => {
  it('reports coverage of each series and cache statistics', async () => {
    const market = createMarket(createMemoryFeed(series));
    await market.context(AT);
    await market.context(AT);
    const health = await market.health(AT);
    const bySeries = Object.fromEntries(health.series.map((entry) => [entry.series, entry]));
    expect(bySeries.fearGreed).toMatchObject({ lastObservedDay: DAY - 2, ageDays: 2, stale: false, source: 'test fearGreed' });
    expect(bySeries.gold).toMatchObject({ ageDays: 20, stale: true });
    expect(bySeries.vix).toMatchObject({ lastObservedDay: null, ageDays: null, stale: true });
    expect(health.caches.find((cache) => cache.name === 'context')).toEqual({
      name: 'context',
      hits: 1,
      misses: 1,
      hitRate: 0.5,
      entries: 1,
    });
  });
});
