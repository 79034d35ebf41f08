import { MICROS } from '../venue.ts';

/** Taker fee: `rate * (p (1 - p)) ^ exponent` dollars a contract at the price p. */
export interface FeeSchedule {
  rate: number;
  exponent: number;
}

/** Fee of one contract at a price (0 to 1), in micros, rounded up. Equal for both sides of a market. */
export function computeFeeMicros({ rate, exponent }: FeeSchedule, price: number): number {
  // Subtracts a tolerance so that floating-point error of a whole number is not rounded up.
  return Math.max(0, Math.ceil(rate * (price * (1 - price)) ** exponent * MICROS - 1e-9));
}
