import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildMarketId, MARKET_ID_PATTERN, parseRoundId } from '../../../../src/contest/rounds/round.ts';
import { buildRoundStrikes, STRIKES_EACH_SIDE } from '../../../../src/contest/rounds/strikes.ts';
import { between } from '../../../support/record/arbitraries.ts';

it('returns positive, ascending, evenly spaced strikes around the price with valid market ids', () => {
  fc.assert(
    fc.property(between(1, 1e7), (spot) => {
      const strikes = buildRoundStrikes(spot);
      expect(strikes).toHaveLength(2 * STRIKES_EACH_SIDE + 1);
      const step = strikes[1] - strikes[0];
      expect(strikes[0]).toBeGreaterThan(0);
      for (let i = 1; i < strikes.length; i++) expect((strikes[i] - strikes[i - 1]) / step).toBeCloseTo(1, 3);
      expect(step / spot).toBeGreaterThan(0.0228);
      expect(step / spot).toBeLessThan(0.0572);
      expect(Math.abs(strikes[STRIKES_EACH_SIDE] - spot)).toBeLessThanOrEqual(step * 0.501);
      for (const strike of strikes) {
        expect(buildMarketId('2026-W32', strike)).toMatch(MARKET_ID_PATTERN);
        expect(parseRoundId(buildMarketId('2026-W32', strike))).toBe('2026-W32');
      }
    }),
  );
});

it('returns round strikes', () => {
  expect(buildRoundStrikes(61_234)).toEqual([58_000, 60_000, 62_000, 64_000, 66_000]);
  expect(buildRoundStrikes(104_900)).toEqual([95_000, 100_000, 105_000, 110_000, 115_000]);
});

it('parses no round from an invalid market id', () => {
  for (const text of [
    '',
    '2026-W32',
    '2026-W32-',
    '2026-W3-1',
    '2026-W32-6e4',
    '2026-W32--1',
    ' 2026-W32-1',
    `2026-W32-${'1'.repeat(10)}`,
  ]) {
    expect(parseRoundId(text), text).toBeNull();
  }
});
