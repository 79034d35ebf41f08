import { describe, expect, it } from 'vitest';
import { changePct, difference, millionsToUsd, rounded } from '../../../../src/market/reports/numbers.ts';

describe('numbers of reports', () => {
  it('have no binary dust', () => {
    expect(rounded(0.1 + 0.2, 3)).toBe(0.3);
    expect(rounded(-1234.5678, 1)).toBe(-1234.6);
    expect(millionsToUsd(0.1 + 0.2)).toBe(300_000);
  });

  it.each([null, Number.NaN, Number.POSITIVE_INFINITY])('are null, never %s', (value) => {
    expect(rounded(value, 2)).toBeNull();
  });

  it('tell changes where both ends are known', () => {
    expect(changePct(80, 100)).toBe(25);
    expect([changePct(null, 1), changePct(1, null), changePct(0, 1)]).toEqual([null, null, null]);
    expect([difference(3, 5), difference(null, 5), difference(3, null)]).toEqual([2, null, null]);
  });
});
