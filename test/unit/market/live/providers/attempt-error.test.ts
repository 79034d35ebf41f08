import { TaskCancelledError } from 'cockatiel';
import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import { AttemptError, isTransient, toFeedError } from '../../../../../src/market/live/provider.ts';

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
