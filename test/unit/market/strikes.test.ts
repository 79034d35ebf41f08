import { describe, expect, it } from 'vitest';
import { isNewYorkNoon, isWeeklyStrike, type StrikeSnapshot, selectNearTheMoney, selectWeeklyStrikes } from '../../../src/market/feed.ts';
import { strikeSnapshot } from '../../support/market/strike-snapshot.ts';

const at = (text: string) => Date.parse(text);

describe('isWeeklyStrike', () => {
  it.each([
    ['2026-03-06T17:00:00Z', true],
    ['2026-03-06T16:00:00Z', false],
    // Summer time began in New York on 8 March.
    ['2026-03-13T16:00:00Z', true],
    ['2026-03-13T17:00:00Z', false],
    ['2026-03-13T16:01:00Z', false],
    ['2026-03-14T04:00:00Z', false],
  ])('expiry %s is weekly: %s', (expiry, weekly) => {
    expect(isNewYorkNoon(at(expiry))).toBe(weekly);
    expect(isWeeklyStrike({ venue: 'polymarket', expiresAtMs: at(expiry) })).toBe(weekly);
  });

  it('is false for another day or venue', () => {
    expect(isNewYorkNoon(at('2026-03-12T16:00:00Z'))).toBe(true);
    expect(isWeeklyStrike({ venue: 'polymarket', expiresAtMs: at('2026-03-12T16:00:00Z') })).toBe(false);
    expect(isWeeklyStrike({ venue: 'kalshi', expiresAtMs: at('2026-03-13T16:00:00Z') })).toBe(false);
  });
});

describe('selectWeeklyStrikes', () => {
  const thirteenth = [1, 2].map((id) => strikeSnapshot({ marketId: String(id), expiresAtMs: at('2026-03-13T16:00:00Z') }));
  const twentieth = [3, 4].map((id) => strikeSnapshot({ marketId: String(id), expiresAtMs: at('2026-03-20T16:00:00Z') }));
  const others: StrikeSnapshot[] = [
    strikeSnapshot({ expiresAtMs: at('2026-03-14T16:00:00Z') }),
    strikeSnapshot({ venue: 'kalshi', expiresAtMs: at('2026-03-13T16:00:00Z') }),
  ];
  const all = [...others, ...twentieth, ...thirteenth];

  it.each([
    ['2026-03-08T00:00:00Z', thirteenth],
    ['2026-03-12T15:59:59Z', thirteenth],
    ['2026-03-12T16:00:00Z', twentieth],
    ['2026-03-19T16:00:00Z', []],
  ])('returns the next ladder with more than a day to expiry at %s', (now, expected) => {
    expect(selectWeeklyStrikes(all, at(now))).toEqual(expected);
  });
});

describe('selectNearTheMoney', () => {
  it('returns strikes in ascending order', () => {
    const strikes = [70, 40, 60, 50, 55].map((strikeUsd) => ({ strikeUsd }));
    expect(selectNearTheMoney(strikes, 56, 3).map(({ strikeUsd }) => strikeUsd)).toEqual([50, 55, 60]);
    expect(selectNearTheMoney(strikes, 56, 9)).toHaveLength(5);
    expect(selectNearTheMoney([], 56, 1)).toEqual([]);
  });
});
