import { TaskCancelledError } from 'cockatiel';
import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { AttemptError } from '../../../../src/market/live/provider.ts';
import { isTransient, parseHttpDate, parseRetryAfter, toFeedError } from '../../../../src/market/live/providers.ts';

describe('isTransient', () => {
  it('is true for a timeout and for a retryable request', () => {
    expect(isTransient(new TaskCancelledError())).toBe(true);
    expect(isTransient(new AttemptError('x', { retryable: true }))).toBe(true);
    expect(isTransient(new AttemptError('x', { retryable: false }))).toBe(false);
  });

  it('is false for other errors', () => {
    for (const error of [new TypeError('x'), new OracleError('FEED_INVALID', 'x'), 'NetworkError', null]) {
      expect(isTransient(error)).toBe(false);
    }
  });
});

describe('toFeedError', () => {
  it('keeps an OracleError', () => {
    const invalid = new OracleError('FEED_INVALID', 'Kraken: result is missing');
    expect(toFeedError('Kraken', 'candles', invalid)).toBe(invalid);
  });

  it.each([
    [new AttemptError('/0/x answered 451', { retryable: false }), 'Kraken: /0/x answered 451'],
    [new TaskCancelledError(), 'Kraken: candles timed out'],
    [new TypeError('https://host/path?key=value'), 'Kraken: candles failed (TypeError)'],
    ['text', 'Kraken: candles failed (string)'],
  ])('wraps %s', (cause, message) => {
    expect(toFeedError('Kraken', 'candles', cause)).toMatchObject({ code: 'FEED_UNAVAILABLE', message, cause });
  });
});
const now = Date.UTC(2026, 0, 5, 12, 0, 0);

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    [' 20 ', 20_000],
    ['Mon, 05 Jan 2026 12:00:45 GMT', 45_000],
    ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
    ['999999999', 86_400_000],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 86_400_000],
  ])('parses %j to %d ms', (header, waitMs) => {
    expect(parseRetryAfter(header, now)).toBe(waitMs);
  });

  it.each([null, '', '1.5', '-3', 'soon', 'soon GMT', '2026-01-05'])('returns null for %j', (header) => {
    expect(parseRetryAfter(header, now)).toBeNull();
  });
});

describe('parseHttpDate', () => {
  it('accepts HTTP dates only', () => {
    expect(parseHttpDate('Mon, 05 Jan 2026 12:00:00 GMT')).toBe(now);
    expect(parseHttpDate('2026-01-05T12:00:00Z')).toBeNaN();
    expect(parseHttpDate('')).toBeNaN();
  });
});
