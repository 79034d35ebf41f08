import { describe, expect, it } from 'vitest';
import { buildQuote } from '../../../src/wager/polymarket.ts';
import type { OrderBook } from '../../../src/wager/polymarket-exchange.ts';
import type { PriceLevel } from '../../../src/wager/venue.ts';

const at = new Date('2026-01-07T21:42:00Z');
const free = { rate: 0, exponent: 0 };
const level = (price: number): PriceLevel => ({ price, size: 10 });
const book = (bids: number[], asks: number[]): OrderBook => ({
  bids: bids.map(level),
  asks: asks.map(level),
  tickSize: '0.01',
  minOrderSize: 5,
  negRisk: false,
});

describe('buildQuote', () => {
  it('returns the best bid and ask with their book', () => {
    const { bids, asks } = book([0.44, 0.4], [0.46, 0.47]);
    expect(buildQuote(book([0.44, 0.4], [0.46, 0.47]), free, at)).toEqual({
      ...{ bid: 0.44, ask: 0.46, fee: 0, at, book: { bids, asks } },
      orderSizes: { YES: { min: 5, step: 1 }, NO: { min: 5, step: 1 } },
    });
  });

  it('keeps five levels of either side', () => {
    const deep = book([0.44, 0.43, 0.42, 0.41, 0.4, 0.39], [0.46, 0.47, 0.48, 0.49, 0.5, 0.51]);
    const { book: kept } = buildQuote(deep, free, at);
    expect(kept).toEqual({ bids: deep.bids.slice(0, 5), asks: deep.asks.slice(0, 5) });
  });

  it('returns the smallest order of each side in whole cents at its own price', () => {
    const fine: OrderBook = { ...book([0.492], [0.495]), tickSize: '0.001' };
    // 0.495 and 1 - 0.492 = 0.508 dollars.
    expect(buildQuote(fine, free, at).orderSizes).toEqual({ YES: { min: 5, step: 2 }, NO: { min: 5, step: 5 } });
  });

  it('uses the higher fee of both sides in whole micros', () => {
    const { fee } = buildQuote(book([0.44], [0.46]), { rate: 0.07, exponent: 1 }, at);
    expect(fee).toBe(0.017388);
  });

  it.each([
    ['no bids', [], [0.46]],
    ['no asks', [0.44], []],
    ['crossed', [0.46], [0.46]],
    ['too wide', [0.4], [0.51]],
  ])('is rejected for a book with %s', (reason, bids, asks) => {
    expect(() => buildQuote(book(bids, asks), free, at)).toThrow(
      expect.objectContaining({ code: 'VENUE_REJECTED', message: expect.stringContaining(reason) }),
    );
  });

  it('accepts a book at the maximum spread', () => {
    expect(buildQuote(book([0.4], [0.5]), free, at)).toMatchObject({ bid: 0.4, ask: 0.5 });
  });
});
