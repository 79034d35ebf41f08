/** Nobody is left alone for longer than this, whatever the header says: a typing error there must not silence a provider for good. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/**
 * Reads a `Retry-After` header: seconds, or a date on the provider's clock.
 * @param providerNowMs the provider's time of the answer
 * @returns the wait (ms, at most a day); null without a header, or for one that cannot be read
 */
export function parseRetryAfter(header: string | null, providerNowMs: number): number | null {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - providerNowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

/** @returns milliseconds since 1970; NaN for what is not an HTTP date */
export function parseHttpDate(text: string): number {
  return text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
}
