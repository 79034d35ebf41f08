import { describe, expect, it } from 'vitest';
import type { ScorecardRow } from '../../../../src/page/browser/responses.ts';
import { computeChangePercent, computePassedShare, findNewestRevealed, getNextCallTime } from '../../../../src/page/browser/today.ts';
import { OPEN, ROW } from './evidence.ts';

describe('call window', () => {
  it('returns 0 to 1, also for a span of no length', () => {
    expect([5, 10, 15, 20, 25].map((now) => computePassedShare(10, 20, now))).toEqual([0, 0, 0.5, 1, 1]);
    expect([computePassedShare(10, 10, 9), computePassedShare(10, 10, 10), computePassedShare(12, 10, 11)]).toEqual([0, 1, 1]);
  });
});

describe('last revealed', () => {
  const row = (what: object): ScorecardRow => ({ ...ROW, attestationUid: '0x1', resolutionUid: '0x2', ...what });

  it('returns the newest call revealed on chain, not a committed one that its reader may see', () => {
    const gated = row({ ...OPEN, resolutionUid: null });
    const visible = row({ status: 'PENDING', resolutionUid: null });
    const isVoid = row({ ...OPEN, status: 'VOID', resolutionUid: null });
    const opened = row({ date: '2026-02-20' });
    expect(findNewestRevealed([visible, gated, isVoid, opened, row({})])).toEqual({ row: opened, index: 3 });
    expect(findNewestRevealed([visible, gated, isVoid])).toBeNull();
    expect(findNewestRevealed([])).toBeNull();
  });
});

const call = (date: string) => ({ predictionId: `${date}:7d`, timestamp: `${date}T21:35:00.000Z`, btcPrice: 80_000 });

describe('computeChangePercent', () => {
  it('compares only with a price of the same time', () => {
    const price = { price: 82_000, timestamp: '2026-03-10T12:00:00.000Z' };
    expect(computeChangePercent(call('2026-03-09'), price)).toBeCloseTo(2.5);
    expect(computeChangePercent(call('2026-03-10'), price)).toBeCloseTo(2.5);
    expect(computeChangePercent(call('2026-03-07'), price)).toBeNull();
    // The CSV files have ended: the price is as old as the call.
    expect(computeChangePercent(call('2025-04-12'), { ...price, timestamp: '2025-04-13T00:00:00.000Z' })).toBeCloseTo(2.5);
  });

  it('returns null without a price', () => {
    expect(computeChangePercent(null, { price: 82_000, timestamp: '2026-03-10T12:00:00.000Z' })).toBeNull();
    expect(computeChangePercent(call('2026-03-09'), { price: null, timestamp: null })).toBeNull();
  });
});

describe('getNextCallTime', () => {
  it.each([
    ['2026-03-10T12:00:00Z', '2026-03-09', '2026-03-10T21:35:00.000Z'],
    ['2026-03-10T21:35:00Z', '2026-03-09', '2026-03-11T21:35:00.000Z'],
    ['2026-03-10T21:36:00Z', '2026-03-10', '2026-03-11T21:35:00.000Z'],
    ['2026-03-10T12:00:00Z', '2026-03-10', '2026-03-11T21:35:00.000Z'],
  ])('returns at %s, after the call of %s, %s', (now, date, due) => {
    expect(getNextCallTime('21:35', call(date), Date.parse(now)).toISOString()).toBe(due);
  });
});
