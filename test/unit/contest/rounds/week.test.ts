import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getDecidingDay, getNextRoundWeek } from '../../../../src/contest/rounds/week.ts';
import { DAY_MS, formatDay } from '../../../../src/forecast/day.ts';

const instants = fc.integer({ min: 0, max: Date.UTC(2150, 0, 1) });

describe('getNextRoundWeek', () => {
  it('starts on the next Monday at 00:00 UTC and lasts seven days', () => {
    fc.assert(
      fc.property(instants, (nowMs) => {
        const { opensAt, resolvesAt } = getNextRoundWeek(nowMs);
        expect(opensAt.getUTCDay()).toBe(1);
        expect(opensAt.getTime() % DAY_MS).toBe(0);
        expect(opensAt.getTime()).toBeGreaterThan(nowMs);
        expect(opensAt.getTime() - nowMs).toBeLessThanOrEqual(7 * DAY_MS);
        expect(resolvesAt.getTime() - opensAt.getTime()).toBe(7 * DAY_MS);
        expect(new Date(getDecidingDay({ resolvesAt }) * DAY_MS).getUTCDay()).toBe(0);
      }),
    );
  });

  it('uses unique ISO 8601 week ids', () => {
    fc.assert(
      fc.property(instants, (nowMs) => {
        const { id, opensAt } = getNextRoundWeek(nowMs);
        const [year, week] = id.split('-W').map(Number);
        const fourth = Date.UTC(year, 0, 4);
        const firstMonday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS;
        expect(opensAt.getTime()).toBe(firstMonday + (week - 1) * 7 * DAY_MS);
        expect(id).toMatch(/^\d{4}-W(0[1-9]|[1-4]\d|5[0-3])$/);
      }),
    );
  });

  it.each([
    ['2026-08-02T23:59:59.999Z', '2026-W32', '2026-08-03', '2026-08-09'],
    ['2026-08-03T00:00:00.000Z', '2026-W33', '2026-08-10', '2026-08-16'],
    ['2020-12-27T12:00:00.000Z', '2020-W53', '2020-12-28', '2021-01-03'],
    ['2021-01-03T12:00:00.000Z', '2021-W01', '2021-01-04', '2021-01-10'],
    ['2024-12-28T00:00:00.000Z', '2025-W01', '2024-12-30', '2025-01-05'],
  ])('at %s is %s', (now, id, opens, decides) => {
    const week = getNextRoundWeek(Date.parse(now));
    expect(week.id).toBe(id);
    expect(week.opensAt.toISOString().slice(0, 10)).toBe(opens);
    expect(formatDay(getDecidingDay(week))).toBe(decides);
  });
});
