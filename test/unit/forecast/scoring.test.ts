import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  boundedLogLoss,
  brierScore,
  computeAccuracy,
  computeStreaks,
  type Outcome,
  scoreDirection,
  selectNonOverlapping,
  wilsonInterval,
} from '../../../src/forecast/signal.ts';

const outcomes = (text: string): Outcome[] => [...text].map((letter) => (letter === 'W' ? 'WIN' : 'LOSS'));

describe('scoreDirection', () => {
  it.each([
    ['UP', 101, 'WIN'],
    ['UP', 100, 'LOSS'],
    ['UP', 99, 'LOSS'],
    ['DOWN', 101, 'LOSS'],
    ['DOWN', 100, 'WIN'],
    ['DOWN', 99, 'WIN'],
  ] as const)('%s from 100 to %d is a %s', (direction, close, outcome) => {
    expect(scoreDirection(direction, 100, close)).toBe(outcome);
  });
});

describe('probability scores', () => {
  it('are lower for the better forecast', () => {
    expect(brierScore(0.6, true)).toBeCloseTo(0.16, 15);
    expect(brierScore(0.6, false)).toBeCloseTo(0.36, 15);
    expect(boundedLogLoss(0.5, true)).toBeCloseTo(Math.LN2, 15);
    expect(boundedLogLoss(0.25, false)).toBeCloseTo(-Math.log(0.75), 15);
    expect(boundedLogLoss(0, true)).toBeCloseTo(-Math.log(1e-12), 9);
  });
});

describe('computeAccuracy and computeStreaks', () => {
  it('count wins', () => {
    expect(computeAccuracy(outcomes('WLWW'))).toBe(0.75);
    expect(computeAccuracy([])).toBeNull();
  });

  it.each([
    ['', null, 0],
    ['W', { type: 'WIN', count: 1 }, 1],
    ['WWLWWWLL', { type: 'LOSS', count: 2 }, 3],
    ['LWW', { type: 'WIN', count: 2 }, 2],
    ['LLL', { type: 'LOSS', count: 3 }, 0],
  ])('find the runs of "%s"', (text, current, longestWin) => {
    expect(computeStreaks(outcomes(text))).toEqual({ current, longestWin });
  });
});

describe('wilsonInterval', () => {
  it('agrees with published values', () => {
    const { low, high } = wilsonInterval(81, 263);
    expect(low).toBeCloseTo(0.2553, 4);
    expect(high).toBeCloseTo(0.3662, 4);
    expect(wilsonInterval(0, 20)).toEqual({ low: 0, high: expect.closeTo(0.1611, 4) });
    expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
  });

  it('contains the share, lies in [0, 1] and narrows with more trials', () => {
    const counts = fc.integer({ min: 1, max: 5000 }).chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(counts, ([hits, n]) => {
        const { low, high } = wilsonInterval(hits, n);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(hits / n);
        expect(high).toBeGreaterThanOrEqual(hits / n);
        expect(high).toBeLessThanOrEqual(1);
        const more = wilsonInterval(4 * hits, 4 * n);
        expect(more.high - more.low).toBeLessThan(high - low);
      }),
    );
  });

  it('mirrors hits and misses', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), (hits) => {
        expect(wilsonInterval(hits, 300).low).toBeCloseTo(1 - wilsonInterval(300 - hits, 300).high, 12);
      }),
    );
  });

  it.each([
    [-1, 5],
    [6, 5],
    [Number.NaN, 5],
  ])('rejects %d hits in %d', (hits, n) => {
    expect(() => wilsonInterval(hits, n)).toThrow(`${hits} hits in ${n} trials`);
  });
});

describe('selectNonOverlapping', () => {
  const daysOf = (days: number[], horizon: number) =>
    selectNonOverlapping(
      days.map((day) => ({ day })),
      horizon,
    ).map(({ day }) => day);

  it('keeps windows that begin when the last one kept has ended', () => {
    expect(daysOf([0, 1, 2, 3, 4, 5, 6, 7], 3)).toEqual([0, 3, 6]);
    expect(daysOf([0, 2, 4, 5, 12], 3)).toEqual([0, 4, 12]);
    expect(daysOf([5, 6, 7], 1)).toEqual([5, 6, 7]);
    expect(daysOf([], 7)).toEqual([]);
  });

  it('keeps a day that occurs twice once', () => {
    expect(daysOf([3, 3, 4, 4], 1)).toEqual([3, 4]);
  });
});
