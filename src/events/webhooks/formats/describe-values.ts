import { sanitizeText } from '../../../record/sanitize-text.ts';
import { MAX_EXTERNAL_CHARS } from './chat-message.ts';

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const HIDDEN = 'hidden';

/** `2026-11-22 21:35 UTC` for an ISO 8601 time. */
export function describeTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

export function describeUsd(usd: number): string {
  return dollars.format(usd);
}

/** `54.0 %` for 0.54. */
export function describeShare(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** `+1.11 %` for 111 basis points. */
export function describeReturn(bps: number): string {
  return `${bps > 0 ? '+' : ''}${(bps / 100).toFixed(2)} %`;
}

/** `Bear trend` for `BEAR_TREND`; a dash for null. */
export function describeName(name: string | null): string {
  if (name === null) return '–';
  return `${name.slice(0, 1)}${name.slice(1).toLowerCase().replaceAll('_', ' ')}`;
}

/** A dash stands for text of which nothing is left. */
export function describeExternal(text: string): string {
  return sanitizeText(text, MAX_EXTERNAL_CHARS) || '–';
}

/** `hidden` for a value that the subscriber's tier may not see. */
export function describeHidden<T>(value: T | null, describe: (value: T) => string): string {
  return value === null ? HIDDEN : describe(value);
}
