import { OracleError } from '../errors.ts';

/**
 * What a call of the chain gives within a time; whoever waits has an answer then.
 * @throws OracleError CHAIN_UNREACHABLE when it takes longer; what the call throws.
 */
export async function withinTime<T>(limitMs: number, what: string, call: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new OracleError('CHAIN_UNREACHABLE', `${what}: the chain did not answer within ${limitMs} ms`, { retryAfterSeconds: 5 }));
  }, limitMs);
  try {
    return await Promise.race([call(), promise]);
  } finally {
    clearTimeout(timer);
  }
}
