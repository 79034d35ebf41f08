import { describe, expect, it } from 'vitest';
import type { BookLevel, OrderBook } from '../../../../src/wager/polymarket/clob.ts';
import { quoteOf } from '../../../../src/wager/polymarket/quote.ts';

const at = new Date('2026-01-07T21:42:00Z');
const free = { rate: 0, exponent: 0 };
const level = (price: number): BookLevel => ({ price, size: 10 });
const book = (bids: number[], asks: number[]): OrderBook => ({
  bids: bids.map(level),
  asks: asks.map(level),
  tickSize: '0.01',
  minOrderSize: 5,
  negRisk: false,
});

describe('a quote', () => {
  it('is the best bid and ask', () => {
    expect(quoteOf(book([0.44, 0.4], [0.46, 0.47]), free, at)).toEqual({ bid: 0.44, ask: 0.46, fee: 0, at });
  });

  it('has the higher fee of both sides, in whole micros', () => {
    const { fee } = quoteOf(book([0.44], [0.46]), { rate: 0.07, exponent: 1 }, at);
    expect(fee).toBe(0.017388);
  });

  it.each([
    ['no bids', [], [0.46]],
    ['no asks', [0.44], []],
    ['crossed', [0.46], [0.46]],
    ['too wide', [0.4], [0.51]],
  ])('is refused for a book that has %s', (reason, bids, asks) => {
    expect(() => quoteOf(book(bids, asks), free, at)).toThrow(
      expect.objectContaining({ code: 'VENUE_REJECTED', message: expect.stringContaining(reason) }),
    );
  });

  it('is taken from a book that is just narrow enough', () => {
    expect(quoteOf(book([0.4], [0.5]), free, at)).toMatchObject({ bid: 0.4, ask: 0.5 });
  });
});
