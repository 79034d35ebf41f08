import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { balanceResponse, bookResponse, marketInfoResponse, parseResponse } from '../../../../../src/wager/polymarket-exchange.ts';
import { describeWithShared, sharedPath } from '../../../../support/record/shared.ts';

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
