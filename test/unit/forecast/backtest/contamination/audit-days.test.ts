import { describe, expect, it } from 'vitest';
import { chooseAuditDays } from '../../../../../src/forecast/backtest/contamination.ts';
import { getLastDay } from '../../../../../src/forecast/inputs.ts';
import { syntheticFrame } from '../../synthetic-frame.ts';

describe('audit days', () => {
  const frame = syntheticFrame();
  const last = getLastDay(frame);

  it('ascend over two years up to the last day with resolved forecasts', () => {
    const days = chooseAuditDays(frame);
    expect(days.length).toBeGreaterThanOrEqual(24);
    expect(days).toEqual([...new Set(days)].sort((a, b) => a - b));
    expect(days[0]).toBeGreaterThan(last - 8 - 730);
    expect(days.at(-1)).toBe(last - 8);
  });

  it('include the day before the newest monthly release', () => {
    const release = 1433;
    const monthly = { ...frame, pmi: frame.pmi.map((_, row) => (row < release ? 50 : 51)) };
    expect(chooseAuditDays(monthly)).toContain(frame.firstDay + release - 1);
  });

  it('include the newest observation of each business-day series', () => {
    const days = Int32Array.of(last - 300, last - 41);
    const sparse = { ...frame, etfFlow: { days, values: Float64Array.of(1, 2) } };
    expect(chooseAuditDays(sparse)).toContain(last - 41);
  });

  it('ignore series that ended before the period', () => {
    const ended = { ...frame, etfFlow: { days: Int32Array.of(last - 900), values: Float64Array.of(1) } };
    expect(Math.min(...chooseAuditDays(ended))).toBeGreaterThan(last - 8 - 730);
  });

  it('cover all days of a short history', () => {
    expect(chooseAuditDays(syntheticFrame({ rows: 12 }))).toEqual([0, 1, 2, 3].map((index) => frame.firstDay + index));
    expect(chooseAuditDays(syntheticFrame({ rows: 8 }))).toEqual([]);
  });
});
