import type { Day } from '../../forecast/day.ts';

/** One close per day. */
export interface PriceHistory {
  firstDay: Day;
  /** USD; NaN for a missing close. */
  closes: Float64Array;
}

/** Independent daily closes (USD) at 00:00 UTC of the next day. */
export interface AuditPrices {
  /** Human-readable origin. */
  source: string;
  /** Maximum distance of a close on chain; 0 means equal to the cent. */
  toleranceBps: number;
  /** Last day of the record's own data; null for data without an end. A forecast that ends later can never resolve. */
  endsOn: Day | null;
  /** The available closes of these days. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  closes(days: readonly Day[]): Promise<ReadonlyMap<Day, number>>;
  /** Closes since the first training day; null when they do not reach back as far. */
  history(): Promise<PriceHistory | null>;
}

export function toPriceCents(usd: number): number {
  return Math.round(usd * 100);
}

/** Whether a close on chain equals the independent one within the tolerance. */
export function isSamePrice(onChainCents: number, usd: number, toleranceBps: number): boolean {
  const cents = toPriceCents(usd);
  return Math.abs(onChainCents - cents) <= (cents * toleranceBps) / 10_000;
}
