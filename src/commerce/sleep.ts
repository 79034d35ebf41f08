import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../platform/errors.ts';

/** Pauses a poll for a payment. @throws OracleError SHUTTING_DOWN when the signal aborts */
export async function sleepOrShutdown(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping; repeat the request with the same payment', { cause });
  }
}
