import { describe, expect, it } from 'vitest';
import { isOracleError } from '../../../src/errors.ts';
import { formatDay, parseDay, toDay, toInstantMs } from '../../../src/forecast/day.ts';

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
