import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EARNED_WEIGHT, MAX_STAKE_FRACTION, sizeWager } from '../../../src/wager/sizing.ts';
import { between } from '../../support/record/arbitraries.ts';
import { describeWithShared, sharedPath } from '../../support/record/shared.ts';

const FEE = 0.02;
const size = (pModel: number, qMarket: number, weight = EARNED_WEIGHT) =>
  sizeWager({ pModel, qMarket, weight, yesCost: qMarket + FEE, noCost: 1 - qMarket + FEE });

describe('sizing', () => {
  it('stakes a quarter of Kelly on the side with the edge', () => {
    expect(size(0.6, 0.5)).toMatchObject({ side: 'YES', pBelieved: 0.55 });
    expect(size(0.6, 0.5).fraction).toBeCloseTo(0.015625, 12);
  });

  it('stakes nothing when costs exceed the edge or the weight is 0', () => {
    expect(size(0.51, 0.5)).toMatchObject({ side: null, fraction: 0 });
    expect(size(0.9, 0.5, 0)).toMatchObject({ side: null, fraction: 0, pBelieved: 0.5 });
  });

  it('stakes within [0, cap], and only when the blended probability exceeds the cost', () => {
    const unit = between(0.01, 0.99);
    fc.assert(
      fc.property(unit, unit, between(0, 1), (p, q, weight) => {
        const { side, fraction, pBelieved } = size(p, q, weight);
        expect(fraction).toBeGreaterThanOrEqual(0);
        expect(fraction).toBeLessThanOrEqual(MAX_STAKE_FRACTION);
        if (side === 'YES') expect(pBelieved).toBeGreaterThan(q + FEE);
        if (side === 'NO') expect(1 - pBelieved).toBeGreaterThan(1 - q + FEE);
        expect(side === null).toBe(fraction === 0);
      }),
    );
  });
});

describeWithShared('sizing against the reference', () => {
  it('matches the reference stakes', () => {
    const { kelly } = JSON.parse(readFileSync(sharedPath('golden/unit_vectors.json'), 'utf8')) as {
      kelly: { p: number; q: number; side: string | null; f: number }[];
    };
    for (const { p, q, side, f } of kelly) {
      expect(size(p, q).side).toBe(side);
      expect(size(p, q).fraction).toBeCloseTo(f, 12);
    }
  });
});
