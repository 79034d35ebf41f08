import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countMinimumContracts, findFavouredSide, MAX_STAKE_FRACTION, sizeWager } from '../../../src/wager/sizing.ts';
import { EARNED_WEIGHT } from '../../../src/wager/wagers.ts';
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

describe('the side of a wager without an edge', () => {
  it.each([
    [0.56, 0.5, 'YES'],
    [0.44, 0.5, 'NO'],
    [0.001, 0.03, 'NO'],
    [0.999, 0.97, 'YES'],
  ] as const)('returns for a model at %d and a market at %d: %s', (pModel, qMarket, side) => {
    expect(findFavouredSide({ pModel, yesCost: qMarket + FEE, noCost: 1 - qMarket + FEE })).toBe(side);
  });

  it('has the larger expected payout per unit of stake, and a cost below the payout', () => {
    const unit = between(0.001, 1.2);
    fc.assert(
      fc.property(between(0, 1), unit, unit, (pModel, yesCost, noCost) => {
        const side = findFavouredSide({ pModel, yesCost, noCost });
        if (side === null) {
          expect(Math.min(yesCost, noCost)).toBeGreaterThanOrEqual(1);
          return;
        }
        const [cost, other] = side === 'YES' ? [yesCost, noCost] : [noCost, yesCost];
        const [p, q] = side === 'YES' ? [pModel, 1 - pModel] : [1 - pModel, pModel];
        expect(cost).toBeLessThan(1);
        if (other < 1) expect(p / cost).toBeGreaterThanOrEqual(q / other);
      }),
    );
  });
});

describe('the smallest wager', () => {
  it.each([
    ['a minimum stake of one contract or more', 1, 0.53, undefined, 2],
    ['a stake that is whole contracts', 1, 0.5, undefined, 2],
    ['the minimum order of the venue, where it is larger', 1, 0.53, { min: 5, step: 1 }, 5],
    ['the minimum stake, where it is larger', 10, 0.53, { min: 5, step: 1 }, 19],
    ['whole steps of the venue', 1, 0.497, { min: 5, step: 10 }, 10],
    ['one contract at least', 0, 0.53, undefined, 1],
  ] as const)('is %s', (_, minStakeUsd, unitCost, sizes, contracts) => {
    expect(countMinimumContracts({ minStakeMicros: minStakeUsd * 1e6, unitCostMicros: Math.round(unitCost * 1e6) }, sizes)).toBe(contracts);
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
