import type { Day } from '../../../forecast/day.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderId } from '../providers/providers.ts';

/** Days from `from` to `to`, both included. */
export interface DayRange {
  from: Day;
  to: Day;
}

/** A value as its provider tells it. */
export interface DatedValue {
  day: Day;
  value: number;
  /** The provider's own time of the value (ms); null where it tells only a date. */
  providerAtMs: number | null;
}

/**
 * One provider of one series. `fetch` gives the values dated within the range, in any order, each day once, in the unit of the
 * series; days without a value are left out. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID naming provider and field
 */
export interface SeriesSource {
  provider: ProviderId;
  /** First day that the provider can be asked for (YYYY-MM-DD), or how many days it reaches back. */
  history: { from: string } | { days: number };
  /** Days that one call may cover; a longer range is asked for in pieces. */
  pageDays: number;
  fetch(provider: Provider, range: DayRange): Promise<DatedValue[]>;
}

/** A venue that trades bitcoin for dollars. */
export interface VenueSource {
  provider: ProviderId;
  history: { from: string } | { days: number };
  pageDays: number;
  /** Closes of the finished daily candles of the range. */
  fetchCloses(provider: Provider, range: DayRange): Promise<DatedValue[]>;
  fetchTicker(provider: Provider): Promise<VenueTicker>;
}

export interface VenueTicker {
  priceUsd: number;
  /** The provider's time of the price (ms); null where it tells none. */
  providerAtMs: number | null;
  /** Change against 24 hours before, in percent; null where the venue does not tell. */
  change24hPct: number | null;
}

/** The net flows of one day into US spot Bitcoin ETFs, USD millions. */
export interface EtfDay {
  day: Day;
  totalMusd: number;
  /** By ticker; null where the provider has totals only. */
  fundsMusd: Record<string, number> | null;
}

export interface EtfSource {
  provider: ProviderId;
  history: { from: string } | { days: number };
  /** Every day the provider has of the range; US holidays and weekends dropped. */
  fetch(provider: Provider, range: DayRange): Promise<EtfDay[]>;
}
