import { describe, expect, it } from 'vitest';
import { readChain } from '../../../../src/market/archive/options/book-summary.ts';
import { interpolate } from '../../../../src/market/archive/options/expiry-vols.ts';
import { computeOptionVols } from '../../../../src/market/archive/options/option-vols.ts';
import { buildChain, type SummaryFixture } from '../../../support/provider-data/option-chain.ts';

const NOW_MS = Date.parse('2026-03-10T21:35:00Z');

function compute(chain: readonly SummaryFixture[]) {
  const { quotes, masked } = readChain(chain, NOW_MS);
  return { ...computeOptionVols(quotes, NOW_MS), quotes, maskedQuotes: masked };
}

describe('vols of an option chain', () => {
  it('returns the vol of a flat chain for every tenor, without skew', () => {
    const { values, masked } = compute(buildChain(NOW_MS));
    for (const { atm, skew } of values.tenors) {
      expect(atm).toBeCloseTo(0.5, 10);
      expect(skew).toBeCloseTo(0, 10);
    }
    expect(values.tenors.map(({ days }) => days)).toEqual([1, 2, 3, 7]);
    expect(masked).toEqual([]);
  });

  it('returns a positive skew where puts are dearer than calls', () => {
    const { values } = compute(buildChain(NOW_MS, { vol: (moneyness) => 50 - 40 * Math.log(moneyness) }));
    for (const { atm, skew } of values.tenors) {
      expect(atm).toBeCloseTo(0.5, 3);
      expect(skew).toBeGreaterThan(0.005);
    }
  });

  it('interpolates total variance between expiries', () => {
    const { values } = compute(buildChain(NOW_MS, { vol: (_, days) => (days === 0 ? 40 : 60) }));
    const [near, next] = values.expiries;
    const term = 1 / 365;
    const weight = (term - near.term) / (next.term - near.term);
    const variance = (1 - weight) * 0.16 * near.term + weight * 0.36 * next.term;
    expect(values.tenors[0].atm).toBeCloseTo(Math.sqrt(variance / term), 12);
  });

  it('interpolates between the strikes around the forward', () => {
    const chain = buildChain(NOW_MS, { vol: (moneyness) => 100 * moneyness }).map((summary) => ({ ...summary, underlying_price: 100_500 }));
    const [{ atm }] = compute(chain).values.expiries;
    const weight = Math.log(100_500 / 100_000) / Math.log(101_000 / 100_000);
    expect(atm).toBeCloseTo(1 + 0.01 * weight, 12);
  });

  it('extrapolates nothing beyond the last expiry', () => {
    const { values, masked } = compute(buildChain(NOW_MS, { expiries: [0, 1, 2] }));
    expect(values.tenors.map(({ atm }) => atm === null)).toEqual([false, false, true, true]);
    expect(masked).toContainEqual({ what: '7d atm', reason: 'no expiry on one side' });
  });

  it('masks a smile whose deltas cross, and keeps its at-the-money vol', () => {
    const wild = buildChain(NOW_MS, { vol: (moneyness) => (moneyness > 1.05 ? 490 : 50) });
    const { values, masked } = compute(wild);
    expect(values.expiries[0]).toMatchObject({ skew: null, atm: expect.closeTo(0.5, 6) });
    expect(masked.some(({ what, reason }) => what.endsWith('skew') && reason.includes('cross it twice'))).toBe(true);
  });

  it('is empty for an empty chain', () => {
    expect(compute([]).values.tenors.every(({ atm, skew }) => atm === null && skew === null)).toBe(true);
  });
});

describe('a quote', () => {
  const spoil = (change: Partial<SummaryFixture>) => {
    const chain = buildChain(NOW_MS);
    return compute([{ ...chain[0], ...change }, ...chain.slice(1)]);
  };

  it.each([
    ['a negative vol', { mark_iv: -3 }, 'vol is not within'],
    ['a vol of zero', { mark_iv: 0 }, 'vol is not within'],
    ['a vol of 900 %', { mark_iv: 900 }, 'vol is not within'],
    ['no vol', { mark_iv: null }, 'no vol'],
    ['an underlying price of zero', { underlying_price: 0 }, 'underlying'],
    ['its bid above its ask', { bid_price: 0.02, ask_price: 0.01 }, 'bid is above ask'],
    ['a timestamp of an hour ago', { creation_timestamp: NOW_MS - 3_600_000 }, 'ten minutes'],
    ['a timestamp of tomorrow', { creation_timestamp: NOW_MS + 86_400_000 }, 'ten minutes'],
    ['an unreadable name', { instrument_name: 'BTC-PERPETUAL' }, 'unreadable'],
  ])('is masked and reported with %s', (_, change, reason) => {
    const { maskedQuotes, values } = spoil(change);
    expect(maskedQuotes).toEqual([{ what: expect.any(String), reason: expect.stringContaining(reason) }]);
    expect(values.tenors[3].atm).toBeCloseTo(0.5, 10);
  });

  it('is masked when its instrument is listed twice', () => {
    const chain = buildChain(NOW_MS);
    const { maskedQuotes, quotes } = compute([...chain, { ...chain[0], mark_iv: 80 }]);
    expect(maskedQuotes).toEqual([{ what: chain[0].instrument_name, reason: 'is listed twice' }]);
    expect(quotes.length).toBe(chain.length - 1);
  });
});

describe('interpolation', () => {
  it.each([
    [1, 10],
    [1.5, 15],
    [2, 20],
    [0.9, null],
    [2.1, null],
  ])('at %d is %s', (x, y) => {
    const points = [
      { x: 1, y: 10 },
      { x: 2, y: 20 },
    ];
    expect(interpolate(points, x)).toBe(y);
  });
});
