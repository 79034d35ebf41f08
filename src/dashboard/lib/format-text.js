/** Names of the interface as people say them. */

/** `Bear trend` of `BEAR_TREND`. @param {string} regime */
export function formatRegime(regime) {
  const words = regime.toLowerCase().replaceAll('_', ' ');
  return `${words[0].toUpperCase()}${words.slice(1)}`;
}

/** `7-day` of `7d`. @param {string} horizon */
export function formatHorizon(horizon) {
  return `${horizon.replace(/d$/, '')}-day`;
}

/** `22 Nov 2026` of a date or time of ISO 8601. @param {string} time */
export function formatDate(time) {
  return formatIsoDate(time, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** `22 Nov` of the same. @param {string} time */
export function formatDayAndMonth(time) {
  return formatIsoDate(time, { day: 'numeric', month: 'short' });
}

/** @param {string} time @param {Intl.DateTimeFormatOptions} form */
function formatIsoDate(time, form) {
  return new Date(`${time.slice(0, 10)}T00:00:00Z`).toLocaleDateString('en-GB', { ...form, timeZone: 'UTC' });
}

/** `1.50 %` with its sign. @param {number} percent */
export function formatSignedPercent(percent) {
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(2)}\u00a0%`;
}

/** A sentence of the service, as a reader has it: begun, ended, no figure apart from its sign. @param {string} words */
export function toSentence(words) {
  const figures = words.replace(/(\d) %/g, '$1\u00a0%').replace(/(^|[ (])-(?=\d)/g, '$1−');
  return `${figures.charAt(0).toUpperCase()}${figures.slice(1)}${figures.endsWith('.') ? '' : '.'}`;
}

/** Text from outside, of a length that cannot break the page. @param {unknown} text */
export function truncate(text, most = 140) {
  const whole = String(text ?? '');
  return whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
}

/** `Basic` of `basic`. @param {string} tier */
export function formatTier(tier) {
  return `${tier.slice(0, 1).toUpperCase()}${tier.slice(1)}`;
}
