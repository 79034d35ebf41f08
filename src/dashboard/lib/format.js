/** Number formats; a dash stands for a missing value. */

const EMPTY_VALUE = '–';
const usdFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const usdCentsFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const countFormat = new Intl.NumberFormat('en-US');

/** @typedef {{ low: number, high: number } | null | undefined} Interval */

/** @param {number | null | undefined} value */
export function formatUsd(value) {
  return value === null || value === undefined ? EMPTY_VALUE : usdFormat.format(value);
}

/** @param {number | null | undefined} value */
export function formatUsdCents(value) {
  return value === null || value === undefined ? EMPTY_VALUE : usdCentsFormat.format(value);
}

/** @param {number | null | undefined} value */
export function formatCount(value) {
  return value === null || value === undefined ? EMPTY_VALUE : countFormat.format(value);
}

/** `58.4 %` for 0.584, with a no-break space. @param {number | null | undefined} value */
export function formatPercent(value, digits = 1) {
  return value === null || value === undefined ? EMPTY_VALUE : `${withMinusSign((100 * value).toFixed(digits))}\u00a0%`;
}

/** @param {string} figure */
export function withMinusSign(figure) {
  return figure.replace('-', '−');
}

/** @param {number | null | undefined} value */
export function formatDecimal(value, digits = 3) {
  return value === null || value === undefined ? EMPTY_VALUE : withMinusSign(value.toFixed(digits));
}

/** Interval of shares, in percent. @param {Interval} interval */
export function formatPercentInterval(interval, digits = 1) {
  return interval ? `${formatPercent(interval.low, digits)} to ${formatPercent(interval.high, digits)}` : EMPTY_VALUE;
}

/** `2026-11-22 21:35 UTC` for an ISO 8601 time. @param {string | null | undefined} time */
export function formatUtcTime(time) {
  return time ? `${time.slice(0, 10)} ${time.slice(11, 16)} UTC` : EMPTY_VALUE;
}

/** `3 hours ago` or `in 2 days`. @param {string} time ISO 8601 */
export function formatRelativeTime(time, now = Date.now()) {
  const seconds = Math.round((Date.parse(time) - now) / 1_000);
  const [amount, unit] = toTimeUnit(Math.abs(seconds));
  const text = `${amount} ${unit}${amount === 1 ? '' : 's'}`;
  return seconds >= 0 ? `in ${text}` : `${text} ago`;
}

/** @param {number} seconds @returns {[number, string]} */
function toTimeUnit(seconds) {
  if (seconds < 90) return [seconds, 'second'];
  if (seconds < 90 * 60) return [Math.round(seconds / 60), 'minute'];
  if (seconds < 36 * 3_600) return [Math.round(seconds / 3_600), 'hour'];
  return [Math.round(seconds / 86_400), 'day'];
}

/** `0x1234…abcd`. @param {string | null | undefined} hex */
export function shortenHex(hex) {
  return hex ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : EMPTY_VALUE;
}

/** Amounts are whole millionths of an asset; never used as fractions in calculations. */
const MICROS = 1_000_000;
const amountFormat = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** `1,204.50 PAPER-USD`. @param {number | null} micros @param {string} asset */
export function formatAssetAmount(micros, asset) {
  return micros === null ? EMPTY_VALUE : `${amountFormat.format(micros / MICROS)} ${asset}`;
}

/** `+1,204.50 PAPER-USD`. @param {number | null} micros @param {string} asset */
export function formatSignedAssetAmount(micros, asset) {
  if (micros === null || micros === 0) return formatAssetAmount(micros, asset);
  return `${micros > 0 ? '+' : '−'}${formatAssetAmount(Math.abs(micros), asset)}`;
}
