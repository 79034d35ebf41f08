import { describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../src/forecast/day.ts';
import { buildMarketContext } from '../../../src/market/market.ts';
import { buildMacroContext } from '../../../src/market/reports/macro.ts';
import { buildDailyPairs, buildObservations, createMemoryFeed } from './memory-feed.ts';

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
