import fc from 'fast-check';
import { parseDay } from '../../../src/forecast/day.ts';
import type { ScoredForecast } from '../../../src/forecast/statistics.ts';
import { between } from '../../support/record/arbitraries.ts';

export const FIRST = parseDay('2026-01-01');

/** A forecast of the n-th day whose window is over. */
export function scored(index: number, changes: Partial<ScoredForecast> = {}): ScoredForecast {
  return { day: FIRST + index, call: 'UP', rose: true, pUp: 0.55, climatology: 0.53, distribution: null, ...changes };
}

const share = (least: number, most: number) => between(least, most);

/** Forecasts by ascending day, with gaps. */
export const scoredRecord = (maxLength = 120) =>
  fc
    .array(
      fc.record({
        gap: fc.integer({ min: 1, max: 3 }),
        call: fc.constantFrom('UP' as const, 'DOWN' as const, null),
        rose: fc.boolean(),
        pUp: share(0, 1),
        climatology: share(0.4, 0.6),
        distribution: fc.option(fc.record({ crps: share(0, 0.1), pit: share(0, 1) })),
      }),
      { maxLength },
    )
    .map((drawn) => {
      let day = FIRST;
      return drawn.map(({ gap, ...one }): ScoredForecast => {
        day += gap;
        return { day, ...one };
      });
    });

/** Whether each of so many overlapping windows of a random walk without drift rose. */
export function windowSigns({ days, horizonDays, random }: { days: number; horizonDays: number; random: () => number }): boolean[] {
  const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const returns = Array.from({ length: days + horizonDays - 1 }, gaussian);
  return Array.from({ length: days }, (_, day) => returns.slice(day, day + horizonDays).reduce((sum, one) => sum + one, 0) > 0);
}

export const horizon = fc.constantFrom(1, 2, 3, 7);
