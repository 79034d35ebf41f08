/** How figures are written; a dash stands for what is not there. */

const NOTHING = '–';
const usdFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const usdCentsFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const countFormat = new Intl.NumberFormat('en-US');

/** @typedef {{ low: number, high: number } | null | undefined} Interval */

/**
 * Whole US dollars.
 * @param {number | null | undefined} value
 */
export function usd(value) {
  return value === null || value === undefined ? NOTHING : usdFormat.format(value);
}

/**
 * US dollars and cents.
 * @param {number | null | undefined} value
 */
export function usdCents(value) {
  return value === null || value === undefined ? NOTHING : usdCentsFormat.format(value);
}

/**
 * A count, with thousands apart.
 * @param {number | null | undefined} value
 */
export function count(value) {
  return value === null || value === undefined ? NOTHING : countFormat.format(value);
}

/**
 * A share of 0 to 1 as a percentage, on one line.
 * @param {number | null | undefined} value
 */
export function percent(value, digits = 1) {
  return value === null || value === undefined ? NOTHING : `${withMinus((100 * value).toFixed(digits))}\u00a0%`;
}

/** The sign of a figure below zero, as it is printed. @param {string} figure */
export function withMinus(figure) {
  return figure.replace('-', '−');
}

/**
 * A number of so many digits.
 * @param {number | null | undefined} value
 */
export function decimal(value, digits = 3) {
  return value === null || value === undefined ? NOTHING : withMinus(value.toFixed(digits));
}

/**
 * An interval of shares, in percent.
 * @param {Interval} interval
 */
export function percentInterval(interval, digits = 1) {
  return interval ? `${percent(interval.low, digits)} to ${percent(interval.high, digits)}` : NOTHING;
}

/**
 * `2026-11-22 21:35 UTC` of an ISO 8601 time.
 * @param {string | null | undefined} time
 */
export function utcTime(time) {
  return time ? `${time.slice(0, 10)} ${time.slice(11, 16)} UTC` : NOTHING;
}

/**
 * How long ago, or how far ahead, in words.
 * @param {string} time ISO 8601
 */
export function fromNow(time, now = Date.now()) {
  const seconds = Math.round((Date.parse(time) - now) / 1_000);
  const [amount, unit] = inUnits(Math.abs(seconds));
  const words = `${amount} ${unit}${amount === 1 ? '' : 's'}`;
  return seconds >= 0 ? `in ${words}` : `${words} ago`;
}

/**
 * @param {number} seconds
 * @returns {[number, string]}
 */
function inUnits(seconds) {
  if (seconds < 90) return [seconds, 'second'];
  if (seconds < 90 * 60) return [Math.round(seconds / 60), 'minute'];
  if (seconds < 36 * 3_600) return [Math.round(seconds / 3_600), 'hour'];
  return [Math.round(seconds / 86_400), 'day'];
}

/**
 * `0x1234…abcd` of an address or a digest.
 * @param {string | null | undefined} hex
 */
export function shortHex(hex) {
  return hex ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : NOTHING;
}
