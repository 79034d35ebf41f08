import { MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, it, vi } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { retryWhileUnavailable } from '../../../src/platform/retry.ts';

const open = new AbortController().signal;

/** Fails with each error in turn, and succeeds after them. */
function failing(...errors: unknown[]) {
  return vi.fn(async () => {
    if (errors.length > 0) throw errors.shift();
    return 'done';
  });
}

describe('retryWhileUnavailable', () => {
  it('repeats work after errors that may pass, and reports the first', async () => {
    const onWait = vi.fn();
    const work = failing(new MongoNetworkError('cut'), new OracleError('CHAIN_UNREACHABLE', 'no node'));
    await expect(retryWhileUnavailable(work, { forMs: 5_000, signal: open, onWait })).resolves.toBe('done');
    expect(work).toHaveBeenCalledTimes(3);
    expect(onWait.mock.calls).toEqual([[expect.objectContaining({ code: 'DATABASE_UNAVAILABLE' })]]);
  });

  it.each([
    ['an error that stays', new OracleError('CONFIG_INVALID', 'wrong')],
    ['an unknown error', new Error('?')],
    [
      'rejected credentials',
      new OracleError('DATABASE_UNAVAILABLE', 'x', { cause: new MongoServerError({ code: 18, errmsg: 'Authentication failed.' }) }),
    ],
  ])('does not repeat work after %s', async (_what, error) => {
    const work = failing(error);
    await expect(retryWhileUnavailable(work, { forMs: 5_000, signal: open })).rejects.toBe(error);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('ends with the last error when its time is over, or when it is aborted', async () => {
    const lasting = vi.fn(() => Promise.reject(new MongoNetworkError('cut')));
    await expect(retryWhileUnavailable(lasting, { forMs: 0, signal: open })).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(lasting).toHaveBeenCalledTimes(1);
    await expect(retryWhileUnavailable(lasting, { forMs: 250, signal: open })).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(lasting.mock.calls.length).toBeGreaterThan(2);
    await expect(retryWhileUnavailable(lasting, { forMs: 60_000, signal: AbortSignal.timeout(50) })).rejects.toThrow();
  });
});
