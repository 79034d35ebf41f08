import { MICROS, type Quote } from '../venue.ts';
import type { OrderBook } from './clob.ts';
import { type FeeSchedule, feeMicros } from './fee.ts';
import { rejected } from './order-plan.ts';

/** Between bids and asks further apart than this, the middle says nothing about the crowd's probability. */
export const WIDEST_SPREAD = 0.1;

/** Levels of either side of the book that are kept with the prices. */
const KEPT_LEVELS = 5;

/**
 * The best prices of a YES contract, with the levels next to them. The fee is the higher one of buying YES at the ask and NO at the bid.
 * @throws OracleError VENUE_REJECTED when one side of the book is empty, the sides cross, or they are more than ten cents apart.
 */
export function quoteOf({ bids, asks }: OrderBook, fee: FeeSchedule, at: Date): Quote {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  if (bid === undefined || ask === undefined) throw rejected(`the book has no ${bid === undefined ? 'bids' : 'asks'}`);
  if (ask <= bid) throw rejected(`the book is crossed: bid ${bid}, ask ${ask}`);
  if (ask - bid > WIDEST_SPREAD + 1e-9) throw rejected(`the book is too wide: bid ${bid}, ask ${ask}`);
  const book = { bids: bids.slice(0, KEPT_LEVELS), asks: asks.slice(0, KEPT_LEVELS) };
  return { bid, ask, fee: Math.max(feeMicros(fee, bid), feeMicros(fee, ask)) / MICROS, at, book };
}
