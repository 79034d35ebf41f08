import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sizingOf, sizingOfWager } from '../../../../src/record/intent/sizing.ts';
import { undecidedWager } from '../../../../src/wager/wagers.ts';

const sizedAt = new Date('2026-03-10T21:42:00Z');
const inputs = { pModel: 0.6, marketPrice: 0.5, weight: 0.5, bid: 0.49, ask: 0.51, fee: 0.01, sizedAt };

describe('the Kelly sizing of an intent', () => {
  it('is a quarter of Kelly of the believed probability at the cost of the side', () => {
    const sizing = sizingOf(inputs);
    expect(sizing).toMatchObject({ side: 'YES', pBelieved: 0.55, yesCost: 0.52, kellyShare: 0.25, maxFraction: 0.02 });
    expect(sizing.fullKelly).toBeCloseTo(0.03 / 0.48, 12);
    expect(sizing.fraction).toBeCloseTo(0.25 * (0.03 / 0.48), 12);
    expect(sizing.note).toBe('Stake 1.56 % of the bankroll: 25 % of Kelly, at most 2 %.');
  });

  it('says why nothing is staked', () => {
    expect(sizingOf({ ...inputs, pModel: 0.99, weight: 0 })).toMatchObject({ side: null, fraction: 0, fullKelly: 0, pBelieved: 0.5 });
    expect(sizingOf({ ...inputs, weight: 0 }).note).toMatch(/^Stake 0: .* 30 settled markets yet, so it is not believed \(weight 0\)\.$/);
    expect(sizingOf({ ...inputs, pModel: 0.5 }).note).toBe('Stake 0: neither side has an edge after costs.');
  });

  it('says so when the fee of the exchange is not in it', () => {
    const sizing = sizingOf({ ...inputs, fee: null });
    expect(sizing).toMatchObject({ fee: null, yesCost: 0.51, noCost: 0.51 });
    expect(sizing.note).toContain("exchange's fee is not in the costs");
  });

  it('can be computed again from what is told, and never stakes without an edge or above the cap', () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    const quote = fc.tuple(fc.double({ min: 0.01, max: 0.99, noNaN: true }), fc.double({ min: 0.01, max: 0.99, noNaN: true }));
    const fee = fc.option(fc.double({ min: 0, max: 0.05, noNaN: true }));
    fc.assert(
      fc.property(unit, quote, unit, fee, (pModel, prices, weight, fee) => {
        const [bid, ask] = prices.toSorted((a, b) => a - b);
        const sizing = sizingOf({ pModel, marketPrice: (bid + ask) / 2, weight, bid, ask, fee, sizedAt });
        const told = JSON.parse(JSON.stringify(sizing)) as typeof sizing;
        expect(told).toEqual(sizing);
        expect(told.pBelieved).toBe(told.marketPrice + told.weight * (told.pModel - told.marketPrice));
        expect(told.yesCost).toBe(ask + (fee ?? 0));
        expect(told.noCost).toBe(1 - bid + (fee ?? 0));
        expect(told.fraction).toBe(Math.min(told.kellyShare * told.fullKelly, told.maxFraction));
        expect(told.side === null).toBe(told.fraction === 0);
        if (told.side === null) return;
        const p = told.side === 'YES' ? told.pBelieved : 1 - told.pBelieved;
        const cost = told.side === 'YES' ? told.yesCost : told.noCost;
        expect(p).toBeGreaterThan(cost);
        expect(told.fullKelly).toBe((p - cost) / (1 - cost));
      }),
    );
  });

  it('of a stored wager uses what stood at its decision; without a market there is none', () => {
    const wager = undecidedWager({ name: 'paper', asset: 'PAPER-USD' }, 20_000, sizedAt);
    expect(sizingOfWager(wager)).toBeNull();
    const quote = { bid: 0.49, ask: 0.51, fee: 0.01, at: sizedAt };
    const sized = { ...wager, quote, pModel: 0.6, qMarket: 0.5, weight: 0.5 };
    expect(sizingOfWager(sized)).toEqual(sizingOf(inputs));
  });
});
