import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { type Feed, getSignalTimeMs } from '../../../src/market/feed.ts';
import { computeInputsDigest } from '../../../src/market/inputs.ts';
import { buildMarketContext, chooseFeed, createMarket } from '../../../src/market/market.ts';
import { buildMacroContext } from '../../../src/market/reports/macro.ts';
import { buildDailyCsv, createCsvFolder } from './csv-folder.ts';
import { buildDailyPairs, buildObservations, createMemoryFeed } from './memory-feed.ts';

const offline = { seed: 2, isLiveReachable: async () => false };
const online = { seed: 2, isLiveReachable: async () => true };

describe('the FEEDS setting', () => {
  it('opens a simulated feed with the configured seed', async () => {
    const open = async (seed: number) => (await chooseFeed('simulated', { ...online, seed })).selectFeed(null).feed as Feed;
    const feed = await open(9);
    expect([feed.kind, feed.source]).toEqual(['simulated', 'simulated (seed 9)']);
    const at = toInstantMs(parseDay('2020-05-05'), 7);
    expect(await feed.spot(at)).not.toEqual(await (await open(10)).spot(at));
  });

  it('opens a CSV folder with its coverage', async () => {
    const folder = createCsvFolder({ 'btc_daily.csv': buildDailyCsv('close_median', 17_000, 17_100) });
    const choice = await chooseFeed(`csv:${folder}`, online);
    const { feed, reason } = choice.selectFeed(null);
    expect([feed?.kind, reason]).toEqual(['csv', null]);
    expect(choice.coverage).toEqual(await feed?.coverage());
  });

  it('returns no feed for live data, reachable or not', async () => {
    for (const options of [online, offline])
      expect((await chooseFeed('live', options)).selectFeed(null)).toEqual({ feed: null, reason: null });
  });

  it('auto: selects live data if reachable, otherwise a simulation with a reason', async () => {
    expect((await chooseFeed('auto', online)).selectFeed(null)).toEqual({ feed: null, reason: null });
    const { feed, reason } = (await chooseFeed('auto', offline)).selectFeed(null);
    expect(feed?.kind).toBe('simulated');
    expect(reason).toMatch(/no live data could be reached within 3 s: the market is SIMULATED/);
  });

  it('auto: keeps the feed of an existing record', async () => {
    const kept = (await chooseFeed('auto', online)).selectFeed('simulated (seed 2)');
    expect(kept.feed?.kind).toBe('simulated');
    expect(kept.reason).toMatch(/was made from the SIMULATED market/);
    expect((await chooseFeed('auto', online)).selectFeed('live')).toEqual({ feed: null, reason: null });
    const waiting = (await chooseFeed('auto', offline)).selectFeed('live');
    expect(waiting).toMatchObject({ feed: null, reason: expect.stringMatching(/steps wait for live data/) });
  });

  it('auto: rejects a record made from CSV files', async () => {
    const choice = await chooseFeed('auto', online);
    expect(() => choice.selectFeed('csv:mine')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        suggestedAction: expect.stringMatching(/FEEDS=csv:<folder>, with the folder named "mine"/),
      }),
    );
  });

  it.each([
    ['csv:', /csv: needs a folder/],
    ['yahoo', /"yahoo" is not a feed/],
  ])('rejects %s with the valid settings', async (setting, message) => {
    await expect(chooseFeed(setting, online)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'FEEDS',
      message: expect.stringMatching(message),
      suggestedAction: 'Set FEEDS to auto, live, simulated or csv:<folder>.',
    });
  });
});
describe('market context', () => {
  const FIRST = 19_700;
  const DAY = FIRST + 800;
  const NOON = toInstantMs(DAY, 12);

  async function contextAt(atMs: number, knownSeries: Parameters<typeof createMemoryFeed>[0]) {
    const feed = createMemoryFeed(knownSeries);
    return buildMarketContext(feed, await feed.spot(atMs), atMs);
  }

  describe('buildMarketContext', () => {
    it('sums flows of the last 7 and 30 days in USD', async () => {
      const context = await contextAt(NOON, {
        etfFlow: buildObservations(
          'etfFlow',
          buildDailyPairs(DAY - 60, DAY + 5, () => 0.1),
        ),
      });
      expect(context).toMatchObject({
        etfFlows7dUsd: 700_000,
        etfFlows30dUsd: 3_000_000,
        etfFlowLastDayUsd: 100_000,
        etfFlowThroughDay: DAY - 1,
      });
      expect(context.observedAt.etfFlows).toBe(toInstantMs(DAY, 12));
    });

    it('excludes an unpublished flow', async () => {
      const flows = {
        etfFlow: buildObservations(
          'etfFlow',
          buildDailyPairs(DAY - 60, DAY + 5, () => 0.1),
        ),
      };
      expect(await contextAt(NOON - 1, flows)).toMatchObject({ etfFlows7dUsd: 700_000, etfFlowThroughDay: DAY - 2 });
    });

    it('labels the index of the day', async () => {
      const context = await contextAt(NOON, {
        fearGreed: buildObservations(
          'fearGreed',
          buildDailyPairs(DAY - 9, DAY + 1, (day) => (day === DAY ? 80 : 10)),
        ),
      });
      expect(context).toMatchObject({ fearGreed: 80, fearGreedLabel: 'Extreme Greed', btcPrice: 1000 + DAY, source: 'memory' });
    });

    it('returns null for missing and stale series', async () => {
      const context = await contextAt(NOON, { fearGreed: buildObservations('fearGreed', [[DAY - 4, 50]]) });
      expect(context).toMatchObject({
        fearGreed: null,
        fearGreedLabel: null,
        etfFlows7dUsd: null,
        etfFlows30dUsd: null,
        etfFlowLastDayUsd: null,
        observedAt: { fearGreed: null, etfFlows: null },
      });
    });
  });

  describe('buildMacroContext', () => {
    const wave = (day: number) => 100 + 10 * Math.sin(day * 1.7);
    const btcClose = buildObservations('btcClose', buildDailyPairs(FIRST, DAY, wave));

    it('correlates changes over the same dates', async () => {
      const feed = createMemoryFeed({
        btcClose,
        sp500: buildObservations(
          'sp500',
          buildDailyPairs(FIRST, DAY, (day) => 3 * wave(day)),
        ),
        dxy: buildObservations(
          'dxy',
          buildDailyPairs(FIRST, DAY, (day) => 1 / wave(day)),
        ),
        gold: buildObservations(
          'gold',
          buildDailyPairs(FIRST, DAY, () => 2000),
        ),
      });
      const macro = await buildMacroContext(feed, NOON);
      expect(macro.sp500.correlation).toBeCloseTo(1, 12);
      expect(macro.sp500.value).toBe(3 * wave(DAY - 1));
      expect(macro.dxy.correlation).toBeCloseTo(-1, 12);
      expect(macro.dxy.change5dPct).toBeCloseTo((wave(DAY - 6) / wave(DAY - 1) - 1) * 100, 9);
      expect(macro.goldBtcRatio).toMatchObject({ value: 2000 / wave(DAY - 1), correlation: null });
      expect(macro.ismPmi).toMatchObject({ series: 'pmi', value: null, correlation: null, observedDay: null });
    });

    it('correlates the PMI month by month', async () => {
      const months = Array.from({ length: 20 }, (_, index): [number, number] => [DAY - 10 - 30 * (19 - index), 40 + index + (index % 3)]);
      const { ismPmi } = await buildMacroContext(createMemoryFeed({ btcClose, pmi: buildObservations('pmi', months) }), NOON);
      expect(ismPmi.value).toBe(60);
      expect(Math.abs(ismPmi.correlation!)).toBeLessThanOrEqual(1);
    });

    it('returns null with too few pairs', async () => {
      const sp500 = buildObservations('sp500', buildDailyPairs(DAY - 15, DAY - 1));
      expect((await buildMacroContext(createMemoryFeed({ btcClose, sp500 }), NOON)).sp500).toMatchObject({
        value: DAY - 1,
        correlation: null,
      });
    });
  });
});

describe('market', () => {
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
});
