import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../../../src/forecast/day.ts';
import { selectReportedDays } from '../../../../../../src/market/sources/etf-flows.ts';
import { createRowReader } from '../test-providers.ts';

const FRIDAY = parseDay('2024-03-01');
const WEEK = { from: FRIDAY, to: FRIDAY + 6 };
const NOW_MS = toInstantMs(FRIDAY + 6, 12);
const flow = (day: number, totalMusd = 5) => ({ day, totalMusd, fundsMusd: null });
const reported = (...days: ReturnType<typeof flow>[]) =>
  selectReportedDays(days, WEEK, createRowReader('Acme'), NOW_MS).map(({ day }) => day);

describe('selectReportedDays', () => {
  it('excludes days outside the range', () => {
    expect(reported(flow(FRIDAY - 1), flow(FRIDAY), flow(FRIDAY + 6), flow(FRIDAY + 7))).toEqual([FRIDAY, FRIDAY + 6]);
  });

  it('excludes weekends', () => {
    expect(reported(flow(FRIDAY + 1), flow(FRIDAY + 2), flow(FRIDAY + 3))).toEqual([FRIDAY + 3]);
  });

  it('excludes holidays even with a flow', () => {
    const goodFriday = parseDay('2024-03-29');
    expect(
      selectReportedDays(
        [flow(goodFriday, 0), flow(goodFriday)],
        { from: goodFriday, to: goodFriday },
        createRowReader('Acme'),
        toInstantMs(goodFriday + 1),
      ),
    ).toEqual([]);
  });

  it('excludes days without a flow', () => {
    const balanced = { day: FRIDAY + 4, totalMusd: 0, fundsMusd: { IBIT: 3, GBTC: -3 } };
    const silent = { day: FRIDAY + 5, totalMusd: 0, fundsMusd: { IBIT: 0, GBTC: 0 } };
    expect(selectReportedDays([flow(FRIDAY, 0), balanced, silent], WEEK, createRowReader('Acme'), NOW_MS)).toEqual([balanced]);
  });

  it('returns a repeated day once', () => {
    expect(selectReportedDays([flow(FRIDAY, 1), flow(FRIDAY, 2)], WEEK, createRowReader('Acme'), NOW_MS)).toEqual([flow(FRIDAY, 2)]);
  });

  it('leaves out a day after tomorrow, and rejects an answer of such days', () => {
    const reader = createRowReader('Acme');
    expect(selectReportedDays([flow(FRIDAY), flow(FRIDAY + 8)], WEEK, reader, NOW_MS)).toEqual([flow(FRIDAY)]);
    expect(reader.leftOut).toMatchObject([{ field: 'date' }]);
    expect(() => reported(flow(FRIDAY + 8))).toThrow(expect.objectContaining({ code: 'FEED_INVALID', field: 'date' }));
  });
});
