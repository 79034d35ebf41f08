import { OracleError } from '../../platform/errors.ts';

/**
 * Runs a call of the chain within a time limit. The signal aborts at the limit, so that a call that heeds it leaves no request behind.
 * @throws OracleError CHAIN_UNREACHABLE when it takes longer; what the call throws.
 */
export async function withChainTimeout<T>(timeoutMs: number, what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const controller = new AbortController();
  const timer = setTimeout(() => {
    reject(new OracleError('CHAIN_UNREACHABLE', `${what}: the chain did not answer within ${timeoutMs} ms`, { retryAfterSeconds: 5 }));
    controller.abort();
  }, timeoutMs);
  try {
    return await Promise.race([call(controller.signal), promise]);
  } finally {
    clearTimeout(timer);
  }
}
