import type { Day } from '../../forecast/day.ts';

/** Daily closes, one a day without a gap. */
export interface PriceHistory {
  firstDay: Day;
  /** USD; NaN where there is none. */
  closes: Float64Array;
}

/** Prices that outcomes are held against: daily closes at 00:00 UTC of the day after, USD. */
export interface AuditPrices {
  /** Where they come from, as it is told. */
  source: string;
  /** How far a close on chain may be from them; 0 means equal to the cent. */
  toleranceBps: number;
  /** Last day of the data that the record itself is made from; null where it goes on. What ends later can never be revealed. */
  endsOn: Day | null;
  /** Closes of these days, as far as there are any. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  closes(days: readonly Day[]): Promise<ReadonlyMap<Day, number>>;
  /** Closes back to the first that forecasts were learned from; null where they do not reach back as far. */
  history(): Promise<PriceHistory | null>;
}

/** Whole cents of a dollar amount. */
export function toPriceCents(usd: number): number {
  return Math.round(usd * 100);
}

/** Whether a close on chain is the independent one. */
export function isSamePrice(onChainCents: number, usd: number, toleranceBps: number): boolean {
  const cents = toPriceCents(usd);
  return Math.abs(onChainCents - cents) <= (cents * toleranceBps) / 10_000;
}
