import { describe, expect, it } from 'vitest';
import { chooseAuditDays } from '../../../../../src/forecast/backtest/contamination/audit-days.ts';
import { getLastDay } from '../../../../../src/forecast/input-frame.ts';
import { syntheticFrame } from '../../synthetic-frame.ts';

describe('the days to audit', () => {
  const frame = syntheticFrame();
  const last = getLastDay(frame);

  it('are days of two years, ascending, up to the last one whose forecasts are over', () => {
    const days = chooseAuditDays(frame);
    expect(days.length).toBeGreaterThanOrEqual(24);
    expect(days).toEqual([...new Set(days)].sort((a, b) => a - b));
    expect(days[0]).toBeGreaterThan(last - 8 - 730);
    expect(days.at(-1)).toBe(last - 8);
  });

  it('hold the eve of the newest release of a monthly figure', () => {
    const release = 1433;
    const monthly = { ...frame, pmi: frame.pmi.map((_, row) => (row < release ? 50 : 51)) };
    expect(chooseAuditDays(monthly)).toContain(frame.firstDay + release - 1);
  });

  it('hold the newest day with an observation of each business-day series', () => {
    const days = Int32Array.of(last - 300, last - 41);
    const sparse = { ...frame, etfFlow: { days, values: Float64Array.of(1, 2) } };
    expect(chooseAuditDays(sparse)).toContain(last - 41);
  });

  it('do not reach back further for a series that ended long ago', () => {
    const ended = { ...frame, etfFlow: { days: Int32Array.of(last - 900), values: Float64Array.of(1) } };
    expect(Math.min(...chooseAuditDays(ended))).toBeGreaterThan(last - 8 - 730);
  });

  it('are those there are of a short history', () => {
    expect(chooseAuditDays(syntheticFrame({ rows: 12 }))).toEqual([0, 1, 2, 3].map((index) => frame.firstDay + index));
    expect(chooseAuditDays(syntheticFrame({ rows: 8 }))).toEqual([]);
  });
});
