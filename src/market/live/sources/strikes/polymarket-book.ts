import { z } from 'zod';
import type { StrikeBookLevel, StrikeSnapshot } from '../../../strikes.ts';
import { epochMsText, finite, numeric, parseAnswer } from '../http-source.ts';
import { contractPrice } from './strike-source.ts';

const MAX_LEVELS = 5;
const price = numeric.pipe(contractPrice);
const levels = z.array(z.object({ price, size: numeric.pipe(finite.min(0)) }));

const book = z.object({
  timestamp: epochMsText,
  bids: levels,
  asks: levels,
  min_order_size: numeric.nullish(),
  tick_size: numeric.nullish(),
  neg_risk: z.boolean().nullish(),
  last_trade_price: price.or(z.literal('').transform(() => null)).nullish(),
});

/** Adds the order book of the YES token to a strike. @throws OracleError FEED_INVALID naming the field */
export function parseBook(body: unknown, strike: StrikeSnapshot, providerTitle: string): StrikeSnapshot {
  const data = parseAnswer(book, body, providerTitle);
  // Polymarket sends the best level last.
  const bids = sortLevels(data.bids, (a, b) => b.price - a.price);
  const asks = sortLevels(data.asks, (a, b) => a.price - b.price);
  return {
    ...strike,
    bid: bids[0]?.price ?? null,
    ask: asks[0]?.price ?? null,
    lastPrice: data.last_trade_price || strike.lastPrice,
    bids,
    asks,
    tickSize: data.tick_size ?? strike.tickSize,
    minOrderSize: data.min_order_size ?? strike.minOrderSize,
    negRisk: data.neg_risk ?? strike.negRisk,
    providerAtMs: data.timestamp,
  };
}

function sortLevels(side: StrikeBookLevel[], order: (a: StrikeBookLevel, b: StrikeBookLevel) => number): StrikeBookLevel[] {
  return side
    .filter(({ size }) => size > 0)
    .sort(order)
    .slice(0, MAX_LEVELS);
}
