import type { Day } from '../../forecast/day.ts';
import type { DailyCloses } from '../../forecast/fit/base-rates.ts';
import type { PriceEvidence } from '../../verify/evidence.ts';

/** Independent daily closes (USD) at 00:00 UTC of the next day. */
export interface AuditPrices extends Omit<PriceEvidence, 'closes'> {
  /** The available closes of these days. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  closes(days: readonly Day[]): Promise<ReadonlyMap<Day, number>>;
  /** Closes since the first training day; null when they do not reach back as far. */
  history(): Promise<DailyCloses | null>;
}
