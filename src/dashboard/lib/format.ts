/** Number formats; a dash stands for a missing value. */

const EMPTY_VALUE = '–';
const usdFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const usdCentsFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const countFormat = new Intl.NumberFormat('en-US');

type Interval = { low: number; high: number } | null | undefined;

export function formatUsd(value: number | null | undefined) {
  return value === null || value === undefined ? EMPTY_VALUE : usdFormat.format(value);
}

export function formatUsdCents(value: number | null | undefined) {
  return value === null || value === undefined ? EMPTY_VALUE : usdCentsFormat.format(value);
}

export function formatCount(value: number | null | undefined) {
  return value === null || value === undefined ? EMPTY_VALUE : countFormat.format(value);
}

/** `58.4 %` for 0.584, with a no-break space. */
export function formatPercent(value: number | null | undefined, digits = 1) {
  return value === null || value === undefined ? EMPTY_VALUE : `${withMinusSign((100 * value).toFixed(digits))}\u00a0%`;
}

export function withMinusSign(figure: string) {
  return figure.replace('-', '−');
}

export function formatDecimal(value: number | null | undefined, digits = 3) {
  return value === null || value === undefined ? EMPTY_VALUE : withMinusSign(value.toFixed(digits));
}

/** Interval of shares, in percent. */
export function formatPercentInterval(interval: Interval, digits = 1) {
  return interval ? `${formatPercent(interval.low, digits)} to ${formatPercent(interval.high, digits)}` : EMPTY_VALUE;
}

/** `2026-11-22 21:35 UTC` for an ISO 8601 time. */
export function formatUtcTime(time: string | null | undefined) {
  return time ? `${time.slice(0, 10)} ${time.slice(11, 16)} UTC` : EMPTY_VALUE;
}

/** `3 hours ago` or `in 2 days`. @param time ISO 8601 */
export function formatRelativeTime(time: string, now = Date.now()) {
  const seconds = Math.round((Date.parse(time) - now) / 1_000);
  const [amount, unit] = toTimeUnit(Math.abs(seconds));
  const text = `${amount} ${unit}${amount === 1 ? '' : 's'}`;
  return seconds >= 0 ? `in ${text}` : `${text} ago`;
}

function toTimeUnit(seconds: number): [number, string] {
  if (seconds < 90) return [seconds, 'second'];
  if (seconds < 90 * 60) return [Math.round(seconds / 60), 'minute'];
  if (seconds < 36 * 3_600) return [Math.round(seconds / 3_600), 'hour'];
  return [Math.round(seconds / 86_400), 'day'];
}

/** `0x1234…abcd`. */
export function shortenHex(hex: string | null | undefined) {
  return hex ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : EMPTY_VALUE;
}

/** Amounts are whole millionths of an asset; never used as fractions in calculations. */
const MICROS = 1_000_000;
const amountFormat = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** `1,204.50 PAPER-USD`. */
export function formatAssetAmount(micros: number | null, asset: string) {
  return micros === null ? EMPTY_VALUE : `${amountFormat.format(micros / MICROS)} ${asset}`;
}

/** `+1,204.50 PAPER-USD`. */
export function formatSignedAssetAmount(micros: number | null, asset: string) {
  if (micros === null || micros === 0) return formatAssetAmount(micros, asset);
  return `${micros > 0 ? '+' : '−'}${formatAssetAmount(Math.abs(micros), asset)}`;
}
