import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeIntentSizing, computeWagerSizing, formatMicros } from '../../../src/record/trade-intent.ts';
import { sizeWager } from '../../../src/wager/sizing.ts';
import { buildUndecidedWager } from '../../../src/wager/wagers.ts';
import { between } from '../../support/record/arbitraries.ts';

describe('the decimal of an amount in micros', () => {
  it.each([
    [0, '0'],
    [1, '0.000001'],
    [-1, '-0.000001'],
    [1_000_000, '1'],
    [-1_250_000, '-1.25'],
    [199_360_000, '199.36'],
    [Number.MAX_SAFE_INTEGER, '9007199254.740991'],
  ])('of %i is %s', (micros, text) => {
    expect(formatMicros(micros)).toBe(text);
  });

  it('is exact and has no trailing zeros', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (micros) => {
        const text = formatMicros(micros);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/);
        const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!;
        expect(BigInt(`${sign}${whole}${fraction.padEnd(6, '0')}`)).toBe(BigInt(micros));
      }),
    );
  });
});
const sizedAt = new Date('2026-03-10T21:42:00Z');
const inputs = { pModel: 0.6, marketPrice: 0.5, weight: 0.5, bid: 0.49, ask: 0.51, fee: 0.01, sizedAt };

describe('the Kelly sizing of an intent', () => {
  it('is a quarter of Kelly at the believed probability and the cost of the side', () => {
    const sizing = computeIntentSizing(inputs);
    expect(sizing).toMatchObject({ side: 'YES', pBelieved: 0.55, yesCost: 0.52, kellyShare: 0.25, maxFraction: 0.02 });
    expect(sizing.fullKelly).toBe(0.0625);
    expect(sizing.fraction).toBe(0.015625);
    expect(sizing.note).toBe('Stake 1.56 % of the bankroll: 25 % of Kelly, at most 2 %.');
  });

  it('states why nothing is staked', () => {
    expect(computeIntentSizing({ ...inputs, pModel: 0.99, weight: 0 })).toMatchObject({
      side: null,
      fraction: 0,
      fullKelly: 0,
      pBelieved: 0.5,
    });
    expect(computeIntentSizing({ ...inputs, weight: 0 }).note).toMatch(
      /^Stake 0: .* 30 settled markets yet, so it is not believed \(weight 0\)\.$/,
    );
    expect(computeIntentSizing({ ...inputs, pModel: 0.5 }).note).toBe('Stake 0: neither side has an edge after costs.');
  });

  it('states when the exchange fee is not included', () => {
    const sizing = computeIntentSizing({ ...inputs, fee: null });
    expect(sizing).toMatchObject({ fee: null, yesCost: 0.51, noCost: 0.51 });
    expect(sizing.note).toContain("exchange's fee is not in the costs");
  });

  it('rounds prices and costs without floating-point noise', () => {
    const sizing = computeIntentSizing({ ...inputs, bid: 0.55, ask: 0.57, fee: 0.01, marketPrice: (0.34 + 0.35) / 2, weight: 0 });
    expect(1 - 0.55 + 0.01).not.toBe(0.46);
    expect(sizing).toMatchObject({ yesCost: 0.58, noCost: 0.46, marketPrice: 0.345, pBelieved: 0.345 });
  });

  it('can be recomputed from the response, and never stakes without an edge or above the cap', () => {
    const unit = between(0, 1);
    // Prices at the exchange are in steps of a ten-thousandth or more, fees in millionths.
    const quote = fc.tuple(fc.integer({ min: 100, max: 9_900 }), fc.integer({ min: 100, max: 9_900 }));
    const fee = fc.option(fc.integer({ min: 0, max: 50_000 }));
    fc.assert(
      fc.property(unit, quote, unit, fee, (pModel, prices, weight, feeMicros) => {
        const [bid, ask] = prices.toSorted((a, b) => a - b);
        const quoted = { bid: bid / 10_000, ask: ask / 10_000, fee: feeMicros === null ? null : feeMicros / 1_000_000 };
        const sizing = computeIntentSizing({ ...quoted, pModel, marketPrice: (quoted.bid + quoted.ask) / 2, weight, sizedAt });
        const published = JSON.parse(JSON.stringify(sizing)) as typeof sizing;
        expect(published).toEqual(sizing);
        expect(published.marketPrice).toBe((bid + ask) / 20_000);
        expect(published.pBelieved).toBeCloseTo(published.marketPrice + published.weight * (published.pModel - published.marketPrice), 7);
        expect(published.yesCost).toBe((ask * 100 + (feeMicros ?? 0)) / 1_000_000);
        expect(published.noCost).toBe((1_000_000 - bid * 100 + (feeMicros ?? 0)) / 1_000_000);
        expect(published.fraction).toBeCloseTo(Math.min(published.kellyShare * published.fullKelly, published.maxFraction), 7);
        expect(published.fraction).toBeLessThanOrEqual(published.maxFraction);
        const { side, ...exact } = sizeWager({ ...published, qMarket: published.marketPrice });
        expect(published.side).toBe(side);
        expect(published.fullKelly).toBeCloseTo(exact.fullKelly, 7);
        if (side === null) expect(published.fraction).toBe(0);
      }),
    );
  });

  it('of a stored wager uses its values at decision time; without a market it is null', () => {
    const wager = buildUndecidedWager({ name: 'paper', asset: 'PAPER-USD' }, 20_000, sizedAt);
    expect(computeWagerSizing(wager)).toBeNull();
    const quote = { bid: 0.49, ask: 0.51, fee: 0.01, at: sizedAt };
    const sized = { ...wager, quote, pModel: 0.6, qMarket: 0.5, weight: 0.5 };
    expect(computeWagerSizing(sized)).toEqual(computeIntentSizing(inputs));
  });
});
