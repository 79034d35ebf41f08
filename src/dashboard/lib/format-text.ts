/** Text of wire values and ISO dates. */

/** `Bear trend` for `BEAR_TREND`. */
export function formatRegime(regime: string) {
  const text = regime.toLowerCase().replaceAll('_', ' ');
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}

/** `7-day` for `7d`. */
export function formatHorizon(horizon: string) {
  return `${horizon.replace(/d$/, '')}-day`;
}

/** `22 Nov 2026` for an ISO 8601 date or time. */
export function formatDate(time: string) {
  return formatIsoDate(time, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** `22 Nov` for an ISO 8601 date or time. */
export function formatDayAndMonth(time: string) {
  return formatIsoDate(time, { day: 'numeric', month: 'short' });
}

function formatIsoDate(time: string, form: Intl.DateTimeFormatOptions) {
  return new Date(`${time.slice(0, 10)}T00:00:00Z`).toLocaleDateString('en-GB', { ...form, timeZone: 'UTC' });
}

/** `+1.50 %`. */
export function formatSignedPercent(percent: number) {
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(2)}\u00a0%`;
}

/** Capitalizes and ends a sentence of the service; keeps minus and percent signs with their numbers. */
export function toSentence(text: string) {
  const figures = text.replace(/(\d) %/g, '$1\u00a0%').replace(/(^|[ (])-(?=\d)/g, '$1−');
  return `${figures.charAt(0).toUpperCase()}${figures.slice(1)}${figures.endsWith('.') ? '' : '.'}`;
}

/** Limits the length of external text. */
export function truncate(text: unknown, most = 140) {
  const whole = String(text ?? '');
  return whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
}

/** `Basic` for `basic`. */
export function formatTier(tier: string) {
  return `${tier.slice(0, 1).toUpperCase()}${tier.slice(1)}`;
}
