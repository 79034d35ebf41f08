import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_POINTS,
  MAX_PROBABILITY_BPS,
  MIN_PROBABILITY_BPS,
  POINTS_PER_BRIER,
  scoreCommitment,
  toContestBps,
} from '../../../../src/contest/scoring/score.ts';
import { between } from '../../../support/record/arbitraries.ts';

const bps = fc.integer({ min: MIN_PROBABILITY_BPS, max: MAX_PROBABILITY_BPS });

describe('points', () => {
  it('are the rounded difference of squared errors', () => {
    fc.assert(
      fc.property(bps, bps, fc.boolean(), (walletBps, oracleBps, above) => {
        const { points, brierOracle, brierWallet } = scoreCommitment({ walletBps, oracleBps, above });
        expect(Number.isInteger(points)).toBe(true);
        expect(Object.is(points, -0)).toBe(false);
        expect(Math.abs(points - POINTS_PER_BRIER * (brierOracle - brierWallet))).toBeLessThanOrEqual(0.5 + 1e-6);
        expect(Math.abs(points)).toBeLessThanOrEqual(MAX_POINTS);
      }),
    );
  });

  it('are antisymmetric, and 0 for equal probabilities', () => {
    fc.assert(
      fc.property(bps, bps, fc.boolean(), (a, b, above) => {
        const won = scoreCommitment({ walletBps: a, oracleBps: b, above }).points;
        const lost = scoreCommitment({ walletBps: b, oracleBps: a, above }).points;
        // Halves round up on both sides.
        expect(Math.abs(won + lost)).toBeLessThanOrEqual(1);
        expect(scoreCommitment({ walletBps: a, oracleBps: a, above }).points).toBe(0);
      }),
    );
  });

  it('are maximal in expectation for the true probability', () => {
    fc.assert(
      fc.property(bps, bps, bps, (trueBps, otherBps, oracleBps) => {
        const expected = (walletBps: number) => {
          const of = (above: boolean) => scoreCommitment({ walletBps, oracleBps, above });
          const p = trueBps / 10_000;
          const gain = ({ brierOracle, brierWallet }: ReturnType<typeof of>) => brierOracle - brierWallet;
          return { brier: p * gain(of(true)) + (1 - p) * gain(of(false)), points: p * of(true).points + (1 - p) * of(false).points };
        };
        const honest = expected(trueBps);
        const other = expected(otherBps);
        // The expected loss of another answer is the square of its distance.
        expect(honest.brier - other.brier).toBeCloseTo(((trueBps - otherBps) / 10_000) ** 2, 9);
        expect(honest.points).toBeGreaterThanOrEqual(other.points - 1);
      }),
    );
  });

  it('match the worked example of the document', () => {
    expect(scoreCommitment({ walletBps: 7_000, oracleBps: 5_500, above: true })).toMatchObject({ points: 1_125 });
    expect(scoreCommitment({ walletBps: 7_000, oracleBps: 5_500, above: false })).toMatchObject({ points: -1_875 });
    expect(MAX_POINTS).toBe(9_800);
  });
});

it("clips a probability to the contest's range in whole basis points", () => {
  fc.assert(
    fc.property(between(0, 1), (probability) => {
      const value = toContestBps(probability);
      expect(Number.isInteger(value)).toBe(true);
      expect(value).toBeGreaterThanOrEqual(MIN_PROBABILITY_BPS);
      expect(value).toBeLessThanOrEqual(MAX_PROBABILITY_BPS);
      if (probability > 0.01 && probability < 0.99) expect(Math.abs(value - probability * 10_000)).toBeLessThanOrEqual(0.5);
    }),
  );
});
