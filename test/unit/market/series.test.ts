import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { countUntil } from '../../../src/forecast/inputs.ts';
import { getFearGreedLabel } from '../../../src/forecast/regime.ts';
import { findLastKnownIndex } from '../../../src/market/inputs.ts';
import { sumBetween } from '../../../src/market/reports/etf.ts';
import {
  averageBetween,
  findValueAt,
  getNextPublicationMs,
  getPublicationMs,
  isFirstUsExchangeDayOfMonth,
  isTradingDay,
  isUsExchangeDay,
  SERIES_IDS,
  sliceKnownAt,
} from '../../../src/market/series.ts';
import { buildObservations } from './memory-feed.ts';

describe('fear greed label', () => {
  it.each([
    [0, 'Extreme Fear'],
    [25, 'Extreme Fear'],
    [26, 'Fear'],
    [46, 'Fear'],
    [47, 'Neutral'],
    [54, 'Neutral'],
    [55, 'Greed'],
    [75, 'Greed'],
    [76, 'Extreme Greed'],
    [100, 'Extreme Greed'],
  ])('labels %d as %s', (value, label) => {
    expect(getFearGreedLabel(value)).toBe(label);
  });
});

describe('lookback', () => {
  const series = buildObservations('vix', [
    [100, 10],
    [101, 20],
    [104, 60],
  ]);

  describe('lookback', () => {
    it('findValueAt returns the value of a day or one within the tolerance', () => {
      expect([findValueAt(series, 101), findValueAt(series, 103), findValueAt(series, 99)]).toEqual([20, null, null]);
      expect([findValueAt(series, 103, 2), findValueAt(series, 103, 1), findValueAt(series, 200, 96)]).toEqual([20, null, 60]);
    });

    it('sums and averages between two days, both included', () => {
      expect([sumBetween(series, 100, 101), sumBetween(series, 101, 104), sumBetween(series, 102, 103)]).toEqual([30, 80, null]);
      expect([averageBetween(series, 100, 104), averageBetween(series, 105, 200)]).toEqual([30, null]);
    });
  });
});

describe('observations', () => {
  const series = buildObservations('gold', [
    [10, 1],
    [11, 2],
    [14, 3],
  ]);
  const late = { ...series, availableAt: Float64Array.of(100, 300, 300) };

  describe('countUntil', () => {
    it.each([
      [9, 0],
      [10, 1],
      [12, 2],
      [14, 3],
      [99, 3],
    ])('counts the entries up to %d as %d', (limit, count) => {
      expect(countUntil(series.days, limit)).toBe(count);
    });

    it('ignores entries beyond the given length', () => {
      expect(countUntil(series.days, 99, 2)).toBe(2);
    });
  });

  describe('findLastKnownIndex', () => {
    it('requires both the date and the publication time', () => {
      expect(findLastKnownIndex(late, 12, 1000)).toBe(1);
      expect(findLastKnownIndex(late, 12, 299)).toBe(0);
      expect(findLastKnownIndex(late, 9, 1000)).toBe(-1);
      expect(findLastKnownIndex(late, 99, 99)).toBe(-1);
    });
  });

  describe('sliceKnownAt', () => {
    it('slices all columns at the instant', () => {
      expect(sliceKnownAt(late, 299)).toEqual({
        ...late,
        days: Int32Array.of(10),
        values: Float64Array.of(1),
        availableAt: Float64Array.of(100),
      });
    });
  });
});

const DAY = parseDay('2025-03-05');

describe('getNextPublicationMs', () => {
  it.each([
    ['btcClose', toInstantMs(DAY, 23, 59), toInstantMs(DAY + 1)],
    ['btcClose', toInstantMs(DAY + 1), toInstantMs(DAY + 2)],
    ['etfFlow', toInstantMs(DAY, 11), toInstantMs(DAY, 12)],
    ['etfFlow', toInstantMs(DAY, 12), toInstantMs(DAY + 1, 12)],
    ['pmi', toInstantMs(DAY, 14), toInstantMs(DAY, 15)],
    ['fearGreed', toInstantMs(DAY, 1), toInstantMs(DAY + 1)],
  ] as const)('returns the next publication of %s', (series, atMs, expected) => {
    expect(getNextPublicationMs(series, atMs)).toBe(expected);
  });

  it('skips no publication', () => {
    const property = fc.property(
      fc.constantFrom(...SERIES_IDS),
      fc.integer({ min: toInstantMs(DAY), max: toInstantMs(DAY + 3) }),
      (series, atMs) => {
        const next = getNextPublicationMs(series, atMs);
        const published = Array.from({ length: 12 }, (_, index) => getPublicationMs(series, DAY - 4 + index));
        expect(next).toBe(Math.min(...published.filter((ms) => ms > atMs)));
      },
    );
    fc.assert(property);
  });
});
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
