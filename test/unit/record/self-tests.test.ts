import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, formatDay, getWeekday, parseDay, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import { getNewestDueDay, getNextDueMs, getSelfTestDueMs, type SelfTestStep } from '../../../src/record/self-tests.ts';

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16));
const at = (text: string) => Date.parse(`${text}:00Z`);

describe('the due times of self-tests', () => {
  it.each([
    ['backtest', '2026-03-12T02:59', '2026-03-11', '2026-03-12T03:00'],
    ['backtest', '2026-03-12T03:00', '2026-03-12', '2026-03-13T03:00'],
    ['backtest', '2026-03-12T23:59', '2026-03-12', '2026-03-13T03:00'],
    ['diagnostics', '2026-03-15T14:59', '2026-03-08', '2026-03-15T15:00'],
    ['diagnostics', '2026-03-15T15:00', '2026-03-15', '2026-03-22T15:00'],
    ['diagnostics', '2026-03-16T00:01', '2026-03-15', '2026-03-22T15:00'],
    ['diagnostics', '2026-03-21T23:59', '2026-03-15', '2026-03-22T15:00'],
  ] as const)('%s at %s: on %s, then at %s', (step, now, day, next) => {
    expect(formatDay(getNewestDueDay(step, at(now), null))).toBe(day);
    expect(iso(getNextDueMs(step, at(now), null))).toBe(next);
  });

  it.each([
    ['backtest', '2026-03-04', '2026-03-05'],
    ['diagnostics', '2026-03-04', '2026-03-08'],
    ['diagnostics', '2026-03-07', '2026-03-08'],
    ['diagnostics', '2026-03-01', '2026-03-08'],
  ] as const)('%s ends with data that ends on %s: last on %s', (step, lastCovered, day) => {
    const now = at('2026-06-01T12:00');
    expect(formatDay(getNewestDueDay(step, now, parseDay(lastCovered)))).toBe(day);
    expect(getNextDueMs(step, now, parseDay(lastCovered))).toBeNull();
  });

  it('are one period apart around any instant', () => {
    const instants = fc.integer({ min: toInstantMs(parseDay('2020-01-01')), max: toInstantMs(parseDay('2040-01-01')) });
    const steps = fc.constantFrom<SelfTestStep>('backtest', 'diagnostics');
    fc.assert(
      fc.property(instants, steps, (nowMs, step) => {
        const day = getNewestDueDay(step, nowMs, null);
        const rhythm = step === 'backtest' ? 1 : 7;
        expect(getSelfTestDueMs(step, day)).toBeLessThanOrEqual(nowMs);
        expect(getNextDueMs(step, nowMs, null)).toBe(getSelfTestDueMs(step, day) + rhythm * DAY_MS);
        expect(getNextDueMs(step, nowMs, null)).toBeGreaterThan(nowMs);
        expect(toDay(nowMs) - day).toBeLessThanOrEqual(rhythm);
        if (step === 'diagnostics') expect(getWeekday(day)).toBe(6);
      }),
    );
  });
});
