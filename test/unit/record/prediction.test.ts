import { describe, expect, it } from 'vitest';
import { computeEffectiveCount } from '../../../src/forecast/bootstrap.ts';
import { formatDay, parseDay } from '../../../src/forecast/day.ts';
import { wilsonInterval } from '../../../src/forecast/signal.ts';
import { computeRecentAccuracy } from '../../../src/record/prediction.ts';
import { buildTestForecast } from './forecast-fixture.ts';

const FIRST = parseDay('2026-01-01');
const STATES = { W: 'WIN', L: 'LOSS', H: 'HOLD', V: 'VOID', P: 'PENDING' } as const;

const record = (letters: string, horizonDays: number) =>
  [...letters].map((letter, index) =>
    buildTestForecast({ date: formatDay(FIRST + index), horizonDays, state: STATES[letter as keyof typeof STATES] }),
  );

/** 00:00 UTC, when the window of the one-day forecast of two days before closes. */
const midnight = (date: string) => new Date(`${date}T00:00:00Z`);

describe('the accuracy of the last days', () => {
  it('counts wins and losses whose windows ended within them', () => {
    const docs = record('LLWLWHVW', 1);
    expect(computeRecentAccuracy(docs, { horizonDays: 1, days: 7, now: midnight('2026-01-10') })).toMatchObject({
      days: 7,
      n: 5,
      wins: 3,
      accuracy: 0.6,
      independent: 5,
    });
    expect(computeRecentAccuracy(docs, { horizonDays: 1, days: 7, now: midnight('2026-01-09') })).toMatchObject({
      n: 5,
      wins: 2,
      accuracy: 0.4,
    });
    expect(computeRecentAccuracy(docs, { horizonDays: 1, days: 30, now: midnight('2026-01-10') })).toMatchObject({
      n: 6,
      wins: 3,
      accuracy: 0.5,
    });
  });

  it('counts overlapping windows by their effective sample size', () => {
    const recent = computeRecentAccuracy(record('WWWWWWW', 7), { horizonDays: 7, days: 7, now: midnight('2026-01-15') });
    const { n, independent, effectiveN, interval95 } = recent;
    expect({ n, independent }).toEqual({ n: 7, independent: 1 });
    expect(effectiveN).toBeCloseTo(computeEffectiveCount([0, 1, 2, 3, 4, 5, 6], 7), 9);
    expect(interval95).toEqual(wilsonInterval(effectiveN, effectiveN));
    // Seven consecutive days are worth less than two non-overlapping ones, whose interval always includes one half.
    expect(interval95!.low).toBeLessThan(0.34);
  });

  it('is null when nothing was resolved', () => {
    const nothing = { n: 0, wins: 0, accuracy: null, effectiveN: 0, independent: 0, interval95: null };
    expect(computeRecentAccuracy(record('PHV', 1), { horizonDays: 1, days: 7, now: midnight('2026-01-06') })).toEqual({
      days: 7,
      ...nothing,
    });
    expect(computeRecentAccuracy([], { horizonDays: 1, days: 7, now: midnight('2026-01-06') })).toEqual({ days: 7, ...nothing });
  });
});
