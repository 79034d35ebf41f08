import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  balanceResponse,
  bookResponse,
  computeUnitCostMicros,
  findHighestPrice,
  marketInfoResponse,
  PRICE_UNITS,
  parseResponse,
  roundToWholeCentContracts,
  TICK_SIZES,
} from '../../../src/wager/polymarket-exchange.ts';
import { between } from '../../support/record/arbitraries.ts';
import { describeWithShared, sharedPath } from '../../support/record/shared.ts';

const book = {
  asset_id: '77',
  bids: [{ price: '0.5', size: '1.25' }],
  asks: [],
  min_order_size: '5',
  tick_size: '0.01',
  neg_risk: true,
};

describe('order book responses', () => {
  it('parse to numbers', () => {
    expect(parseResponse('book', bookResponse, book)).toMatchObject({
      bids: [{ price: 0.5, size: 1.25 }],
      min_order_size: 5,
      neg_risk: true,
    });
  });

  it.each([
    ['book.bids.0.price', { ...book, bids: [{ price: 'cheap', size: '1' }] }],
    ['book.bids.0.price', { ...book, bids: [{ price: '1.01', size: '1' }] }],
    ['book.bids.0.size', { ...book, bids: [{ price: '0.5', size: '' }] }],
    ['book.asks', { ...book, asks: null }],
    ['book.tick_size', { ...book, tick_size: '0.02' }],
    ['book.neg_risk', { ...book, neg_risk: 'false' }],
  ])('reject changed fields by name: %s', (field, answer) => {
    expect(() => parseResponse('book', bookResponse, answer)).toThrow(expect.objectContaining({ code: 'FEED_INVALID', field }));
  });

  it('reject other values', () => {
    for (const answer of [null, '', '<html>', []])
      expect(() => parseResponse('info', marketInfoResponse, answer)).toThrow('Polymarket: info');
    expect(() => parseResponse('balance', balanceResponse, { balance: '1.5' })).toThrow('whole micros');
  });
});

describeWithShared('a recorded order book', () => {
  it('parses', () => {
    const sample = JSON.parse(readFileSync(sharedPath('data/api-samples/polymarket_clob_book.json'), 'utf8'));
    const { bids, asks } = parseResponse('book', bookResponse, sample);
    expect(Math.max(...bids.map(({ price }) => price))).toBe(bids.at(-1)?.price);
    expect(Math.min(...asks.map(({ price }) => price))).toBe(asks.at(-1)?.price);
  });
});
const tickSizes = fc.constantFrom(...TICK_SIZES);
const fees = fc.record({ rate: between(0, 0.25), exponent: fc.integer({ min: 1, max: 2 }) });

describe('the price of an order', () => {
  it('is the highest price on the tick within the cap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_100_000 }), tickSizes, fees, (limit, tickSize, fee) => {
        const tick = Math.round(Number(tickSize) * PRICE_UNITS);
        const price = findHighestPrice(limit, tickSize, fee);
        if (price === null) {
          expect(computeUnitCostMicros(tick, fee)).toBeGreaterThan(limit);
          return;
        }
        expect(price % tick).toBe(0);
        expect(price).toBeGreaterThanOrEqual(tick);
        expect(price).toBeLessThanOrEqual(PRICE_UNITS - tick);
        expect(computeUnitCostMicros(price, fee)).toBeLessThanOrEqual(limit);
        if (price + tick <= PRICE_UNITS - tick) expect(computeUnitCostMicros(price + tick, fee)).toBeGreaterThan(limit);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [470_000, '0.01', 4_700],
    [479_999, '0.01', 4_700],
    [479_999, '0.001', 4_790],
    [479_999, '0.0025', 4_775],
    [479_999, '0.1', 4_000],
    [1_000_000, '0.1', 9_000],
    [99_999, '0.1', null],
  ] as const)('for a limit of %d micros at the tick %s is %s ten-thousandths', (limit, tickSize, price) => {
    expect(findHighestPrice(limit, tickSize, { rate: 0, exponent: 0 })).toBe(price);
  });

  it('leaves room for the fee under the cap', () => {
    const fee = { rate: 0.07, exponent: 1 };
    expect(computeUnitCostMicros(5_000, fee)).toBe(517_500);
    expect(findHighestPrice(517_500, '0.01', fee)).toBe(5_000);
    expect(findHighestPrice(517_499, '0.01', fee)).toBe(4_900);
  });
});

describe('the size of an order', () => {
  it('is the maximum number of contracts in whole cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: PRICE_UNITS - 1 }), (wanted, price) => {
        const contracts = roundToWholeCentContracts(wanted, price);
        expect(contracts).toBeLessThanOrEqual(wanted);
        expect((contracts * price) % 100).toBe(0);
        for (let more = contracts + 1; more <= wanted; more++) expect((more * price) % 100).not.toBe(0);
      }),
    );
  });

  it.each([
    [57, 4_700, 57],
    [57, 4_730, 50],
    [57, 215, 40],
    [19, 215, 0],
  ])('for %d wanted at %d ten-thousandths is %d', (wanted, price, contracts) => {
    expect(roundToWholeCentContracts(wanted, price)).toBe(contracts);
  });
});
