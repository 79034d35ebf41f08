import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/forecast/day.ts';
import { marketSkillOf } from '../../../../src/record/statistics/market-skill.ts';
import { crowdPin, type PricedOptions } from '../crowd/crowd-pin.ts';

const FRIDAY = parseDay('2026-02-13');
const LATER = FRIDAY + 1_000;

const week = (index: number, options: Partial<PricedOptions> = {}) =>
  crowdPin({
    ...{ day: FRIDAY - 8 + 7 * index, decidingDay: FRIDAY + 7 * index, qMarket: 0.5, pModel: 0.6 },
    ...{ winner: index % 3 === 0 ? 'NO' : 'YES', ...options },
  });

describe('skill against the market', () => {
  it('is one minus the quotient of the Brier scores on the settled weeks', () => {
    const pins = [0, 1, 2].map((index) => week(index));
    const oracleBrier = (0.36 + 0.16 + 0.16) / 3;
    expect(marketSkillOf(pins, LATER)).toEqual({
      weeks: 3,
      oracleBrier: expect.closeTo(oracleBrier, 8),
      marketBrier: 0.25,
      value: expect.closeTo(1 - oracleBrier / 0.25, 8),
      low: null,
      high: null,
    });
  });

  it('has an interval from five weeks on, the same whenever it is made', () => {
    const pins = Array.from({ length: 12 }, (_, index) => week(index));
    const skill = marketSkillOf(pins, LATER)!;
    expect(skill.low).toBeLessThan(skill.value);
    expect(skill.high).toBeGreaterThan(skill.value);
    expect(marketSkillOf(pins, LATER)).toEqual(skill);
    expect(marketSkillOf(pins.slice(0, 4), LATER)!.low).toBeNull();
  });

  it('knows nothing of weeks that are open, or that not everybody may know', () => {
    const told = [0, 1, 2, 3, 4, 5].map((index) => week(index));
    const through = told[4].day;
    const without = marketSkillOf(told.slice(0, 5), through);
    expect(without!.weeks).toBe(5);
    expect(marketSkillOf(told, through)).toEqual(without);
    expect(marketSkillOf([...told.slice(0, 5), week(5, { pModel: 0.01, winner: 'YES' })], through)).toEqual(without);
    expect(marketSkillOf([...told.slice(0, 5), week(5, { winner: null })], LATER)).toEqual(without);
  });

  it('is none before the first settled week, and against a market that was never wrong', () => {
    expect(marketSkillOf([], LATER)).toBeNull();
    expect(marketSkillOf([week(0, { winner: null })], LATER)).toBeNull();
    expect(marketSkillOf([week(1, { qMarket: 1 })], LATER)).toBeNull();
  });
});
