import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/forecast/day.ts';
import { wilsonInterval } from '../../../../src/forecast/signal.ts';
import { computeAccuracyByVenue, computeCrowdAccuracy, type SettledPin } from '../../../../src/record/crowd.ts';
import { buildTestPin, type PricedOptions } from './crowd-pin-fixture.ts';

const FRIDAY = parseDay('2026-02-13');
const pin = (options: Partial<PricedOptions>) =>
  buildTestPin({ day: FRIDAY - 3, decidingDay: FRIDAY, winner: 'YES', ...options }) as SettledPin;

describe('the accuracy of the crowd', () => {
  it('is null before the first settled market', () => {
    const empty = computeCrowdAccuracy([]);
    expect(empty).toMatchObject({
      markets: 0,
      weeks: 0,
      brier: null,
      logLoss: null,
      calls: 0,
      hits: 0,
      hitRate: null,
      hitRateInterval95: null,
    });
    expect(empty.reliability).toHaveLength(10);
    expect(
      empty.reliability.every(({ n, meanProbability, observedShare }) => n === 0 && meanProbability === null && observedShare === null),
    ).toBe(true);
  });

  it('counts each market by its first price, and the evidence by weeks', () => {
    const accuracy = computeCrowdAccuracy([
      pin({ day: FRIDAY - 4, strikeUsd: 1, qMarket: 0.8 }),
      pin({ day: FRIDAY - 3, strikeUsd: 1, qMarket: 0.2 }),
      pin({ day: FRIDAY - 2, strikeUsd: 2, qMarket: 0.6, winner: 'NO' }),
      pin({ day: FRIDAY - 1, decidingDay: FRIDAY + 7, qMarket: 0.3, winner: 'NO' }),
    ]);
    expect(accuracy).toMatchObject({ markets: 3, weeks: 2, calls: 3, hits: 2 });
    expect(accuracy.brier).toBe(0.16333333);
    expect(accuracy.logLoss).toBe(0.49870308);
    expect(accuracy.hitRate).toBe(0.66666667);
    const { low, high } = wilsonInterval((2 / 3) * 2, 2);
    expect(accuracy.hitRateInterval95!.low).toBeCloseTo(low, 8);
    expect(accuracy.hitRateInterval95!.high).toBeCloseTo(high, 8);
    const figures = JSON.stringify(accuracy).match(/\d\.\d+/g)!;
    expect(Math.max(...figures.map((figure) => figure.length))).toBeLessThanOrEqual(10);
  });

  it('has bins whose intervals count weeks, not markets', () => {
    const { reliability } = computeCrowdAccuracy([
      pin({ strikeUsd: 1, qMarket: 0.61 }),
      pin({ strikeUsd: 2, qMarket: 0.65, winner: 'NO' }),
      pin({ strikeUsd: 3, decidingDay: FRIDAY + 7, qMarket: 0.69 }),
    ]);
    const { low, high } = wilsonInterval((2 / 3) * 2, 2);
    expect(reliability[6]).toMatchObject({ n: 3, effectiveN: 2, observedShare: 0.66666667 });
    expect(reliability[6].interval95!.low).toBeCloseTo(low, 8);
    expect(reliability[6].interval95!.high).toBeCloseTo(high, 8);
    expect(reliability[5]).toMatchObject({ n: 0, effectiveN: 0, interval95: null });
  });

  it('does not count a price of one half as a call', () => {
    expect(computeCrowdAccuracy([pin({ qMarket: 0.5 })])).toMatchObject({
      markets: 1,
      calls: 0,
      hitRate: null,
      hitRateInterval95: null,
      brier: 0.25,
    });
  });

  it('is also computed per venue, without mixing them', () => {
    const pins = [pin({ venue: 'polymarket', qMarket: 0.9 }), pin({ venue: 'paper', qMarket: 0.1 })];
    const [paper, polymarket] = computeAccuracyByVenue(pins);
    expect(paper).toMatchObject({ venue: 'paper', markets: 1, hits: 0 });
    expect(polymarket).toMatchObject({ venue: 'polymarket', markets: 1, hits: 1 });
  });
});
