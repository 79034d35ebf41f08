import { OracleError } from '../errors.ts';

/**
 * Runs a call of the chain within a time limit. The signal aborts at the limit, so that a call that heeds it leaves no request behind.
 * @throws OracleError CHAIN_UNREACHABLE when it takes longer; what the call throws.
 */
export async function withinTime<T>(limitMs: number, what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const ended = new AbortController();
  const timer = setTimeout(() => {
    reject(new OracleError('CHAIN_UNREACHABLE', `${what}: the chain did not answer within ${limitMs} ms`, { retryAfterSeconds: 5 }));
    ended.abort();
  }, limitMs);
  try {
    return await Promise.race([call(ended.signal), promise]);
  } finally {
    clearTimeout(timer);
  }
}
