/** Upper bound, so that a wrong header cannot disable a provider for good. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** Parses `Retry-After` (RFC 9110: seconds or an HTTP date on the provider's clock) to a wait of at most a day (ms); null if invalid. */
export function parseRetryAfter(header: string | null, providerNowMs: number): number | null {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - providerNowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

/** @returns milliseconds since 1970; NaN for an invalid HTTP date */
export function parseHttpDate(text: string): number {
  return text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
}
