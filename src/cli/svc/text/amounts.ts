export const NONE = '-';

/** `58.4 %` for 0.584. */
export function formatPercentOrDash(share: number | null, digits = 1): string {
  return share === null ? NONE : `${(share * 100).toFixed(digits)} %`;
}

/** `0.31 to 0.86`. */
export function formatRange(range: { low: number | null; high: number | null } | null): string {
  if (range === null || range.low === null || range.high === null) return NONE;
  return `${range.low.toFixed(2)} to ${range.high.toFixed(2)}`;
}

/** `98,916.21`. */
export function formatUsdAmount(usd: number | null, digits = 2): string {
  if (usd === null) return NONE;
  const [whole, cents] = Math.abs(usd).toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${usd < 0 ? '-' : ''}${grouped}${cents === undefined ? '' : `.${cents}`}`;
}

/** `+2.37 %` for 237 basis points. */
export function formatReturn(bps: number | null): string {
  return bps === null ? NONE : `${bps < 0 ? '' : '+'}${(bps / 100).toFixed(2)} %`;
}

/** `2026-11-21 21:35` UTC for an ISO 8601 time. */
export function formatMinute(time: string | Date): string {
  const text = typeof time === 'string' ? time : time.toISOString();
  return text.slice(0, 16).replace('T', ' ');
}

/** `0xdbf7…e128`. */
export function abbreviateHex(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;
}
