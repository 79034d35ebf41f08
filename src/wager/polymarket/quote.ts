import { MICROS, type Quote } from '../venue.ts';
import type { OrderBook } from './api/market-data-client.ts';
import { computeFeeMicros, type FeeSchedule } from './fee.ts';
import { venueRejectedError } from './order-plan.ts';

/** With a wider spread the midpoint is no estimate of the crowd's probability. */
export const MAX_SPREAD = 0.1;
const MAX_KEPT_LEVELS = 5;

/**
 * Best prices of a YES contract with the levels next to them, and the higher fee of YES at the ask and NO at the bid.
 * @throws OracleError VENUE_REJECTED for a one-sided, crossed or too wide book
 */
export function buildQuote({ bids, asks }: OrderBook, fee: FeeSchedule, at: Date): Quote {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  if (bid === undefined || ask === undefined) throw venueRejectedError(`the book has no ${bid === undefined ? 'bids' : 'asks'}`);
  if (ask <= bid) throw venueRejectedError(`the book is crossed: bid ${bid}, ask ${ask}`);
  if (ask - bid > MAX_SPREAD + 1e-9) throw venueRejectedError(`the book is too wide: bid ${bid}, ask ${ask}`);
  const book = { bids: bids.slice(0, MAX_KEPT_LEVELS), asks: asks.slice(0, MAX_KEPT_LEVELS) };
  return { bid, ask, fee: Math.max(computeFeeMicros(fee, bid), computeFeeMicros(fee, ask)) / MICROS, at, book };
}
