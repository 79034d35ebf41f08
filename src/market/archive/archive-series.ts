import type { ProviderId } from '../live/providers/providers.ts';

export type ArchiveProvider = ProviderId | 'file';

/** What is stored for later models and read by none. `daily`: one entry a day; otherwise a new vintage only when it has changed. */
export const ARCHIVE_SERIES = {
  dvol: { title: 'Implied volatility index at 21:00 UTC', providers: ['deribit'], daily: true },
  'option-vols': { title: 'At-the-money vols and 25-delta skew of options', providers: ['deribit'], daily: true },
  'bars-5m': { title: '5-minute bars of 24 hours up to 21:35 UTC', providers: ['coinbase', 'kraken'], daily: true },
  fomc: { title: 'Dates of FOMC decisions as announced', providers: ['federal-reserve', 'file'], daily: false },
  cpi: { title: 'Dates of CPI releases as announced', providers: ['bls', 'file'], daily: false },
} as const satisfies Record<string, { title: string; providers: readonly ArchiveProvider[]; daily: boolean }>;

export type ArchiveSeriesId = keyof typeof ARCHIVE_SERIES;

export const ARCHIVE_SERIES_IDS = Object.keys(ARCHIVE_SERIES) as [ArchiveSeriesId, ...ArchiveSeriesId[]];

/** A value that was received and is not used, e.g. a bar with its high below its low. */
export interface MaskedValue {
  what: string;
  reason: string;
}

/** One reading of one provider. */
export interface ArchiveEntry {
  series: ArchiveSeriesId;
  provider: ArchiveProvider;
  /** `YYYY-MM-DD` of a daily series, otherwise `calendar`. */
  key: string;
  values: object;
  masked: readonly MaskedValue[];
  receivedAtMs: number;
  /** Time of the values on the provider's clock (ms); null where it sends none. */
  providerAtMs: number | null;
}

export const CALENDAR_KEY = 'calendar';
