import { describe, expect, it } from 'vitest';
import { computeChangePercent, formatCallTitle, getNextCallTime } from '../../../../src/dashboard/today/newest-call.js';

const NOW = Date.parse('2026-03-10T12:00:00Z');
const call = (date: string) => ({ predictionId: `${date}:7d`, timestamp: `${date}T21:35:00.000Z`, btcPrice: 80_000 });

describe('the newest call', () => {
  it.each([
    ['2026-03-10', "Today's call"],
    ['2026-03-09', "Today's call"],
    ['2026-03-08', 'The newest call so far, of 8 Mar 2026'],
    ['2025-04-12', 'The newest call so far, of 12 Apr 2025'],
  ])('of %s is called: %s', (date, title) => {
    expect(formatCallTitle(call(date), NOW)).toBe(title);
  });

  it('is today’s before there is one', () => {
    expect(formatCallTitle(null, NOW)).toBe("Today's call");
  });
});

describe('the change since a call', () => {
  it('is told of a price of its time only', () => {
    const price = { price: 82_000, observedAt: '2026-03-10T12:00:00.000Z' };
    expect(computeChangePercent(call('2026-03-09'), price)).toBeCloseTo(2.5);
    expect(computeChangePercent(call('2026-03-10'), price)).toBeCloseTo(2.5);
    expect(computeChangePercent(call('2026-03-07'), price)).toBeNull();
    // Recorded files that have ended: the price is as old as the call.
    expect(computeChangePercent(call('2025-04-12'), { ...price, observedAt: '2025-04-13T00:00:00.000Z' })).toBeCloseTo(2.5);
  });

  it('is not made up', () => {
    expect(computeChangePercent(null, { price: 82_000, observedAt: '2026-03-10T12:00:00.000Z' })).toBeNull();
    expect(computeChangePercent(call('2026-03-09'), { price: null, observedAt: null })).toBeNull();
  });
});

describe('the next call', () => {
  it.each([
    ['2026-03-10T12:00:00Z', '2026-03-09', '2026-03-10T21:35:00.000Z'],
    ['2026-03-10T21:35:00Z', '2026-03-09', '2026-03-11T21:35:00.000Z'],
    ['2026-03-10T21:36:00Z', '2026-03-10', '2026-03-11T21:35:00.000Z'],
    ['2026-03-10T12:00:00Z', '2026-03-10', '2026-03-11T21:35:00.000Z'],
  ])('at %s, after that of %s, is due at %s', (now, date, due) => {
    expect(getNextCallTime('21:35', call(date), Date.parse(now)).toISOString()).toBe(due);
  });
});
