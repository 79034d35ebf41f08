/** How figures are written; a dash stands for what is not there. */

const EMPTY_VALUE = '–';
const usdFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const usdCentsFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const countFormat = new Intl.NumberFormat('en-US');

/** @typedef {{ low: number, high: number } | null | undefined} Interval */

/**
 * Whole US dollars.
 * @param {number | null | undefined} value
 */
export function formatUsd(value) {
  return value === null || value === undefined ? EMPTY_VALUE : usdFormat.format(value);
}

/**
 * US dollars and cents.
 * @param {number | null | undefined} value
 */
export function formatUsdCents(value) {
  return value === null || value === undefined ? EMPTY_VALUE : usdCentsFormat.format(value);
}

/**
 * A count, with thousands apart.
 * @param {number | null | undefined} value
 */
export function formatCount(value) {
  return value === null || value === undefined ? EMPTY_VALUE : countFormat.format(value);
}

/**
 * A share of 0 to 1 as a percentage, on one line.
 * @param {number | null | undefined} value
 */
export function formatPercent(value, digits = 1) {
  return value === null || value === undefined ? EMPTY_VALUE : `${withMinusSign((100 * value).toFixed(digits))}\u00a0%`;
}

/** The sign of a figure below zero, as it is printed. @param {string} figure */
export function withMinusSign(figure) {
  return figure.replace('-', '−');
}

/**
 * A number of so many digits.
 * @param {number | null | undefined} value
 */
export function formatDecimal(value, digits = 3) {
  return value === null || value === undefined ? EMPTY_VALUE : withMinusSign(value.toFixed(digits));
}

/**
 * An interval of shares, in percent.
 * @param {Interval} interval
 */
export function formatPercentInterval(interval, digits = 1) {
  return interval ? `${formatPercent(interval.low, digits)} to ${formatPercent(interval.high, digits)}` : EMPTY_VALUE;
}

/**
 * `2026-11-22 21:35 UTC` of an ISO 8601 time.
 * @param {string | null | undefined} time
 */
export function formatUtcTime(time) {
  return time ? `${time.slice(0, 10)} ${time.slice(11, 16)} UTC` : EMPTY_VALUE;
}

/**
 * How long ago, or how far ahead, in words.
 * @param {string} time ISO 8601
 */
export function formatRelativeTime(time, now = Date.now()) {
  const seconds = Math.round((Date.parse(time) - now) / 1_000);
  const [amount, unit] = toTimeUnit(Math.abs(seconds));
  const words = `${amount} ${unit}${amount === 1 ? '' : 's'}`;
  return seconds >= 0 ? `in ${words}` : `${words} ago`;
}

/**
 * @param {number} seconds
 * @returns {[number, string]}
 */
function toTimeUnit(seconds) {
  if (seconds < 90) return [seconds, 'second'];
  if (seconds < 90 * 60) return [Math.round(seconds / 60), 'minute'];
  if (seconds < 36 * 3_600) return [Math.round(seconds / 3_600), 'hour'];
  return [Math.round(seconds / 86_400), 'day'];
}

/**
 * `0x1234…abcd` of an address or a digest.
 * @param {string | null | undefined} hex
 */
export function shortenHex(hex) {
  return hex ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : EMPTY_VALUE;
}
