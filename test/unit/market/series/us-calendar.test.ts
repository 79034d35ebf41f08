import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { isFirstUsExchangeDayOfMonth, isTradingDay, isUsExchangeDay } from '../../../../src/market/series.ts';

/** Weekdays of a year on which the exchange stays shut. */
function holidays(year: number): string[] {
  const days = Array.from({ length: 366 }, (_, index) => parseDay(`${year}-01-01`) + index).filter((day) =>
    formatDay(day).startsWith(`${year}`),
  );
  return days
    .filter((day) => ![0, 6].includes(new Date(day * 86_400_000).getUTCDay()) && !isUsExchangeDay(day))
    .map((day) => formatDay(day).slice(5));
}

describe('isUsExchangeDay', () => {
  it.each([
    [2021, ['01-01', '01-18', '02-15', '04-02', '05-31', '07-05', '09-06', '11-25', '12-24']],
    [2022, ['01-17', '02-21', '04-15', '05-30', '06-20', '07-04', '09-05', '11-24', '12-26']],
    [2024, ['01-01', '01-15', '02-19', '03-29', '05-27', '06-19', '07-04', '09-02', '11-28', '12-25']],
    [2026, ['01-01', '01-19', '02-16', '04-03', '05-25', '06-19', '07-03', '09-07', '11-26', '12-25']],
  ])('excludes the exchange holidays of %d', (year, expected) => {
    expect(holidays(year)).toEqual(expected);
  });
});

describe('other calendars', () => {
  it('isTradingDay is true on weekdays except New Year and Christmas', () => {
    expect(['2024-12-25', '2024-01-01', '2024-03-30'].map((date) => isTradingDay(parseDay(date)))).toEqual([false, false, false]);
    expect(['2024-03-29', '2024-07-04'].map((date) => isTradingDay(parseDay(date)))).toEqual([true, true]);
  });

  it('isFirstUsExchangeDayOfMonth is true on one day of a month', () => {
    const found = (month: string) =>
      Array.from({ length: 28 }, (_, index) => parseDay(`${month}-01`) + index)
        .filter(isFirstUsExchangeDayOfMonth)
        .map(formatDay);
    expect(found('2024-01')).toEqual(['2024-01-02']);
    expect(found('2024-09')).toEqual(['2024-09-03']);
    expect(found('2022-01')).toEqual(['2022-01-03']);
  });
});
