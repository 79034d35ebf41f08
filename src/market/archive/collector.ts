import type { Day } from '../../forecast/day.ts';
import type { Provider } from '../live/providers/provider.ts';
import type { ProviderId } from '../live/providers/providers.ts';
import type { ArchiveEntry, ArchiveProvider, ArchiveSeriesId } from './archive-series.ts';

export interface CollectContext {
  providers: Record<ProviderId, Provider>;
  nowMs: number;
}

/** What a collector has read, and why a provider of it is missing. */
export interface Collected {
  entries: ArchiveEntry[];
  problems: string[];
}

export interface ArchiveCollector {
  series: ArchiveSeriesId;
  /** Providers that are read for each day. */
  providers: readonly ArchiveProvider[];
  /** Days back for which the providers still have the values; 0: of the present alone. */
  reachDays: number;
  /** Longest delay after the day's 21:35 UTC for values of the present (ms); null where the provider dates them. */
  maxDelayMs: number | null;
  /** @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  collect(day: Day, context: CollectContext): Promise<Collected>;
}
