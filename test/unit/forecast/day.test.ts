import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOracleError } from '../../../src/errors.ts';
import {
  formatDay,
  formatWeek,
  getLastDayOfWeek,
  getWeekday,
  parseDay,
  parseWeek,
  toDay,
  toInstantMs,
  toWeek,
  WEEK_PATTERN,
} from '../../../src/forecast/day.ts';

describe('days', () => {
  it('count from 1970-01-01 and round-trip', () => {
    expect(parseDay('1970-01-01')).toBe(0);
    for (const date of ['2010-07-18', '2024-02-29', '1969-12-31']) expect(formatDay(parseDay(date))).toBe(date);
  });

  it.each(['2023-02-29', '2024-13-01', '2024-1-1', '20240101', ' 2024-01-01', ''])('reject "%s"', (text) => {
    try {
      parseDay(text);
      expect.unreachable();
    } catch (error) {
      expect(isOracleError(error, 'INPUT_INVALID')).toBe(true);
    }
  });

  it('contain their instants, midnight included', () => {
    const day = parseDay('2026-08-14');
    expect(toInstantMs(day, 21, 35)).toBe(Date.UTC(2026, 7, 14, 21, 35));
    expect([toDay(toInstantMs(day)), toDay(toInstantMs(day) - 1)]).toEqual([day, day - 1]);
  });
});
const anyDay = fc.integer({ min: parseDay('1000-01-01'), max: parseDay('9999-12-20') });

describe('ISO weeks', () => {
  it.each([
    // The examples of ISO 8601 and of the years around them.
    ['2005-01-01', '2004-W53'],
    ['2005-01-02', '2004-W53'],
    ['2005-12-31', '2005-W52'],
    ['2006-01-01', '2005-W52'],
    ['2006-01-02', '2006-W01'],
    ['2007-12-31', '2008-W01'],
    ['2008-12-28', '2008-W52'],
    ['2008-12-29', '2009-W01'],
    ['2009-12-31', '2009-W53'],
    ['2010-01-03', '2009-W53'],
    ['2010-01-04', '2010-W01'],
    ['2020-12-31', '2020-W53'],
    ['2026-12-31', '2026-W53'],
    ['2027-01-03', '2026-W53'],
    ['1969-12-31', '1970-W01'],
    ['1970-01-01', '1970-W01'],
  ])('assigns %s to %s', (date, id) => {
    expect(formatWeek(toWeek(parseDay(date)))).toBe(id);
  });

  it('spans Monday to Sunday and round-trips through its id', () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const week = toWeek(day);
        expect(getWeekday(week)).toBe(0);
        expect(new Date(`${formatDay(week)}T00:00:00Z`).getUTCDay()).toBe(1);
        expect(day).toBeGreaterThanOrEqual(week);
        expect(day).toBeLessThanOrEqual(getLastDayOfWeek(week));
        expect(parseWeek(formatWeek(week))).toBe(week);
      }),
    );
  });

  it('precedes the next week, whose id sorts after it', () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const week = toWeek(day);
        expect(toWeek(getLastDayOfWeek(week) + 1)).toBe(week + 7);
        expect(formatWeek(week + 7) > formatWeek(week)).toBe(true);
      }),
    );
  });

  it('numbers a week 53 only in years that begin or, if leap years, end on a Thursday', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 9999 }), (number) => {
        const year = String(number);
        const isThursday = (date: string) => getWeekday(parseDay(date)) === 3;
        const long = isThursday(`${year}-01-01`) || isThursday(`${year}-12-31`);
        if (long) expect(formatWeek(parseWeek(`${year}-W53`))).toBe(`${year}-W53`);
        else expect(() => parseWeek(`${year}-W53`)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
      }),
    );
  });

  it.each([
    '',
    '2026',
    '2026-47',
    '2026-W',
    '2026-W7',
    '2026-W00',
    '2026-W54',
    '9999-W53',
    '1000-W00',
    '0999-W01',
    '2026-W99',
    '2025-W53',
    '2026W47',
    '2026-w47',
    ' 2026-W47',
    '2026-W47\n',
    '20260-W47',
    '²026-W47',
  ])('rejects %j with field weekId', (text) => {
    expect(() => parseWeek(text)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field: 'weekId' }));
  });

  it('matches the pattern exactly when it parses', () => {
    const readable = (text: string) => {
      try {
        return formatWeek(parseWeek(text)) === text;
      } catch {
        return false;
      }
    };
    const years = [999, 1000, ...Array.from({ length: 401 }, (_, i) => 1900 + i), 9998];
    const weeks = years.flatMap((year) =>
      [0, 1, 52, 53, 54].map((week) => `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`),
    );
    expect(weeks.filter((week) => WEEK_PATTERN.test(week) !== readable(week))).toEqual([]);
  });
});
