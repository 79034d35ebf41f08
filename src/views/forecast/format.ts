/** Text of dates, prices and shares; a dash stands for a missing value. */

const EMPTY_VALUE = '–';
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const shortDates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `22 Nov 2026` for an ISO 8601 date or time. */
export function formatDate(time: string): string {
  return dates.format(new Date(time.slice(0, 10)));
}

/** `22 Nov` for an ISO 8601 date or time. */
export function formatDayAndMonth(time: string): string {
  return shortDates.format(new Date(time.slice(0, 10)));
}

/** `22 Nov 2026, 21:35 UTC` for an ISO 8601 time. */
export function formatTime(time: string): string {
  return `${formatDate(time)}, ${time.slice(11, 16)}\u00a0UTC`;
}

export function formatUsd(price: number | null): string {
  return price === null ? EMPTY_VALUE : dollars.format(price);
}

/** `58.8 %` for 0.588. */
export function formatShare(share: number | null): string {
  return share === null ? EMPTY_VALUE : `${(100 * share).toFixed(1)}\u00a0%`;
}

/** `+1.11 %` for 111 basis points. */
export function formatReturn(bps: number | null): string {
  if (bps === null) return EMPTY_VALUE;
  return `${bps > 0 ? '+' : bps < 0 ? '−' : ''}${(Math.abs(bps) / 100).toFixed(2)}\u00a0%`;
}

/** `Bear trend` for `BEAR_TREND`. */
export function formatRegimeName(regime: string | null): string {
  if (regime === null) return EMPTY_VALUE;
  const text = regime.toLowerCase().replaceAll('_', ' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
