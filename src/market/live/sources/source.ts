import type { Day } from '../../../forecast/day.ts';
import type { PriceRange } from '../../feed.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderId } from '../providers/providers.ts';

/** Days from `from` to `to`, both included. */
export interface DayRange {
  from: Day;
  to: Day;
}

export interface DatedValue {
  day: Day;
  value: number;
  /** Time of the value on the provider's clock (ms); null for a date only. */
  providerAtMs: number | null;
}

/**
 * One provider of one series. `fetch` returns the values dated within the range in the unit of the series, one per day, in any order.
 * @throws OracleError FEED_UNAVAILABLE, FEED_INVALID naming provider and field
 */
export interface SeriesSource {
  provider: ProviderId;
  /** First available day (YYYY-MM-DD), or the number of available days. */
  history: { from: string } | { days: number };
  pageDays: number;
  fetch(provider: Provider, range: DayRange): Promise<DatedValue[]>;
}

export interface VenueSource extends Omit<SeriesSource, 'fetch'> {
  /** Daily candles of the range, the running one included. A candle without a valid range is reported in the provider's health. */
  fetchCandles(provider: Provider, range: DayRange): Promise<DailyCandle[]>;
  fetchTicker(provider: Provider): Promise<VenueTicker>;
}

export interface DailyCandle {
  day: Day;
  /** The last price of a running candle. */
  closeUsd: number;
  /** Null when a price is missing, or high and low do not enclose open and close. */
  range: PriceRange | null;
  isFinished: boolean;
  /** End of the candle (ms). */
  providerAtMs: number;
}

export interface VenueTicker {
  priceUsd: number;
  /** Time of the price on the provider's clock (ms); null where it sends none. */
  providerAtMs: number | null;
  /** 24-hour change in percent; null where the venue sends none. */
  change24hPct: number | null;
}

/** Net flows into US spot Bitcoin ETFs of one day, USD millions. */
export interface EtfDay {
  day: Day;
  totalMusd: number;
  /** By ticker; null for a provider with totals only. */
  fundsMusd: Record<string, number> | null;
}

export interface EtfSource extends Pick<SeriesSource, 'provider' | 'history'> {
  /** The reported days of the range, without US holidays and weekends. */
  fetch(provider: Provider, range: DayRange): Promise<EtfDay[]>;
}
