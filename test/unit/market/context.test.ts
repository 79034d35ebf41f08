import { describe, expect, it } from 'vitest';
import { instantOf } from '../../../src/forecast/day.ts';
import { marketContext } from '../../../src/market/context.ts';
import { macroContext } from '../../../src/market/macro.ts';
import { everyDay, memoryFeed, observationsOf } from './support.ts';

const FIRST = 19_700;
const DAY = FIRST + 800;
const NOON = instantOf(DAY, 12);

async function contextAt(atMs: number, parts: Parameters<typeof memoryFeed>[0]) {
  const feed = memoryFeed(parts);
  return marketContext(feed, await feed.spot(atMs), atMs);
}

describe('marketContext', () => {
  it('sums the flows known and dated within the last 7 and 30 days, in dollars', async () => {
    const context = await contextAt(NOON, {
      etfFlow: observationsOf(
        'etfFlow',
        everyDay(DAY - 60, DAY + 5, () => 0.1),
      ),
    });
    expect(context).toMatchObject({ etfFlows7dUsd: 600_000, etfFlows30dUsd: 2_900_000, etfFlowLastDayUsd: 100_000 });
    expect(context.observedAt.etfFlows).toBe(instantOf(DAY, 12));
  });

  it('leaves out a flow that is not yet published', async () => {
    const flows = {
      etfFlow: observationsOf(
        'etfFlow',
        everyDay(DAY - 60, DAY + 5, () => 0.1),
      ),
    };
    expect((await contextAt(NOON - 1, flows)).etfFlows7dUsd).toBe(500_000);
  });

  it('labels the index of the day', async () => {
    const context = await contextAt(NOON, {
      fearGreed: observationsOf(
        'fearGreed',
        everyDay(DAY - 9, DAY + 1, (day) => (day === DAY ? 80 : 10)),
      ),
    });
    expect(context).toMatchObject({ fearGreed: 80, fearGreedLabel: 'Extreme Greed', btcPrice: 1000 + DAY, source: 'memory' });
  });

  it('has nothing to say about series that are missing or stale', async () => {
    const context = await contextAt(NOON, { fearGreed: observationsOf('fearGreed', [[DAY - 4, 50]]) });
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

describe('macroContext', () => {
  const wave = (day: number) => 100 + 10 * Math.sin(day * 1.7);
  const btcClose = observationsOf('btcClose', everyDay(FIRST, DAY, wave));

  it('correlates changes over the same dates', async () => {
    const feed = memoryFeed({
      btcClose,
      sp500: observationsOf(
        'sp500',
        everyDay(FIRST, DAY, (day) => 3 * wave(day)),
      ),
      dxy: observationsOf(
        'dxy',
        everyDay(FIRST, DAY, (day) => 1 / wave(day)),
      ),
      gold: observationsOf(
        'gold',
        everyDay(FIRST, DAY, () => 2000),
      ),
    });
    const macro = await macroContext(feed, NOON);
    expect(macro.sp500.correlation).toBeCloseTo(1, 12);
    expect(macro.sp500.value).toBe(3 * wave(DAY - 1));
    expect(macro.dxy.correlation).toBeCloseTo(-1, 12);
    expect(macro.dxy.change5dPct).toBeCloseTo((wave(DAY - 6) / wave(DAY - 1) - 1) * 100, 9);
    expect(macro.goldBtcRatio).toMatchObject({ value: 2000 / wave(DAY - 1), correlation: null });
    expect(macro.ismPmi).toMatchObject({ series: 'pmi', value: null, correlation: null, observedDay: null });
  });

  it('compares the PMI month by month', async () => {
    const months = Array.from({ length: 20 }, (_, index): [number, number] => [DAY - 10 - 30 * (19 - index), 40 + index + (index % 3)]);
    const { ismPmi } = await macroContext(memoryFeed({ btcClose, pmi: observationsOf('pmi', months) }), NOON);
    expect(ismPmi.value).toBe(60);
    expect(Math.abs(ismPmi.correlation!)).toBeLessThanOrEqual(1);
  });

  it('says nothing from too few days', async () => {
    const sp500 = observationsOf('sp500', everyDay(DAY - 15, DAY - 1));
    expect((await macroContext(memoryFeed({ btcClose, sp500 }), NOON)).sp500).toMatchObject({ value: DAY - 1, correlation: null });
  });
});
