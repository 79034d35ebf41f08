import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/forecast/day.ts';
import { compareWeekly, computeMarketSkill } from '../../../../src/record/crowd.ts';
import { buildTestPin, type PricedOptions } from '../crowd/crowd-pin-fixture.ts';

const FRIDAY = parseDay('2026-02-13');
const LATER = FRIDAY + 1_000;

const week = (index: number, options: Partial<PricedOptions> = {}) =>
  buildTestPin({
    ...{ day: FRIDAY - 8 + 7 * index, decidingDay: FRIDAY + 7 * index, qMarket: 0.5, pModel: 0.6 },
    ...{ winner: index % 3 === 0 ? 'NO' : 'YES', ...options },
  });

describe('skill against the market', () => {
  it('is one minus the ratio of the Brier scores on the settled weeks', () => {
    const pins = [0, 1, 2].map((index) => week(index));
    const oracleBrier = (0.36 + 0.16 + 0.16) / 3;
    expect(computeMarketSkill(pins, LATER)).toEqual({
      weeks: 3,
      oracleBrier: expect.closeTo(oracleBrier, 8),
      marketBrier: 0.25,
      value: expect.closeTo(1 - oracleBrier / 0.25, 8),
      low: expect.any(Number),
      high: expect.any(Number),
    });
    expect(computeMarketSkill(pins.slice(0, 1), LATER)).toMatchObject({ weeks: 1, low: null, high: null });
  });

  it('agrees with the weekly comparison on any weeks', () => {
    const probability = fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100);
    const weeks = fc.array(
      fc.record({ qMarket: probability, pModel: probability, winner: fc.constantFrom('YES' as const, 'NO' as const) }),
      {
        minLength: 2,
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(weeks, (drawn) => {
        const pins = drawn.map((one, index) => week(index, one));
        const { value, low, high, oracleBrier, marketBrier } = computeMarketSkill(pins, LATER)!;
        const { totals } = compareWeekly(pins, LATER);
        expect([oracleBrier, marketBrier]).toEqual([totals.oracle!.brier, totals.market!.brier]);
        expect(low!).toBeLessThanOrEqual(value);
        expect(high!).toBeGreaterThanOrEqual(value);
        expect(high!).toBeLessThanOrEqual(1);
        const { brierDifference, market } = totals;
        // Rounding to eight digits may change the sign.
        fc.pre([brierDifference!.low!, brierDifference!.high!].every((bound) => bound === 0 || Math.abs(bound) > 1e-6));
        expect([value > 0, low! > 0, high! < 0]).toEqual([
          brierDifference!.mean < 0,
          brierDifference!.high! < 0,
          brierDifference!.low! > 0,
        ]);
        expect(low! * market!.brier).toBeCloseTo(-brierDifference!.high!, 4);
      }),
    );
  });

  it('has the scores of the weekly comparison to the last digit, where a mean of 32 weeks ends in a half of it', () => {
    const probability = fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100);
    const weeks = fc.array(fc.record({ qMarket: probability, pModel: probability }), { minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(weeks, (drawn) => {
        const pins = drawn.map((one, index) => week(index, one));
        const { market, oracle } = compareWeekly(pins, LATER).totals;
        const { oracleBrier, marketBrier } = computeMarketSkill(pins, LATER)!;
        expect([oracleBrier, marketBrier]).toEqual([oracle!.brier, market!.brier]);
      }),
      { numRuns: 300 },
    );
  });

  it('does not differ from zero after five weeks of small gains', () => {
    const gains = [0.52, 0.505, 0.47, 0.51, 0.42];
    const pins = gains.map((pModel, index) => week(index, { pModel, winner: pModel > 0.5 ? 'YES' : 'NO' }));
    const { value, low, high } = computeMarketSkill(pins, LATER)!;
    expect(value).toBeGreaterThan(0.1);
    expect(low).toBeLessThan(0);
    expect(high).toBeGreaterThan(0);
  });

  it('is finite against a market that was certain and right in all weeks but one', () => {
    const pins = Array.from({ length: 12 }, (_, index) => week(index, { qMarket: index === 5 ? 0.5 : 1, winner: 'YES' }));
    const figures = Object.values(computeMarketSkill(pins, LATER)!);
    expect(figures).toHaveLength(6);
    for (const figure of figures) expect(figure).toSatisfy(Number.isFinite);
  });

  it('excludes open weeks and weeks that are not public', () => {
    const publicWeeks = [0, 1, 2, 3, 4, 5].map((index) => week(index));
    const through = publicWeeks[4].day;
    const without = computeMarketSkill(publicWeeks.slice(0, 5), through);
    expect(without!.weeks).toBe(5);
    expect(computeMarketSkill(publicWeeks, through)).toEqual(without);
    expect(computeMarketSkill([...publicWeeks.slice(0, 5), week(5, { pModel: 0.01, winner: 'YES' })], through)).toEqual(without);
    expect(computeMarketSkill([...publicWeeks.slice(0, 5), week(5, { winner: null })], LATER)).toEqual(without);
  });

  it('is null before the first settled week, and against a market that was never wrong', () => {
    expect(computeMarketSkill([], LATER)).toBeNull();
    expect(computeMarketSkill([week(0, { winner: null })], LATER)).toBeNull();
    expect(computeMarketSkill([week(1, { qMarket: 1 })], LATER)).toBeNull();
  });
});
