const usdFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });

export function formatWholeUsd(value: number): string {
  return usdFormat.format(value);
}

/** `59 %` for 0.594, with a no-break space. */
export function formatWholePercent(share: number): string {
  return `${Math.round(100 * share)}\u00a0%`;
}

/** `30 Nov` for an ISO 8601 date or time. */
export function formatShortDate(time: string): string {
  const day = new Date(`${time.slice(0, 10)}T00:00:00Z`);
  return day.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}

/** `21:38` UTC for an ISO 8601 time. */
export function formatClock(time: string): string {
  return time.slice(11, 16);
}
