import { OracleError } from '../../platform/errors.ts';
import { chainCall } from './chain-call.ts';

/** The signal aborts at the timeout, so that no request is left pending. @throws OracleError CHAIN_UNREACHABLE at the timeout */
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

export function chainCallWithin<T>(timeoutMs: number, what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withChainTimeout(timeoutMs, what, (signal) => chainCall(what, () => call(signal)));
}
