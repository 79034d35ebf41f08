import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../errors.ts';
import { formatMoney, type Offering } from './offerings.ts';

export type SignatureRule = 'optional' | 'required';

/** Sentence on the paid alternative for a caller without the tier; empty when the answer is not sold. */
export function formatSingleAnswerHint(offering: Pick<Offering, 'price' | 'resource'> | null | undefined): string {
  if (!offering?.resource) return '';
  const { method, path } = offering.resource;
  return `Or pay ${formatMoney(offering.price)} for a single answer, without an account: ${method} ${path}?horizon=7d.`;
}

/** Pauses a poll for a payment. @throws OracleError SHUTTING_DOWN when the signal aborts */
export async function sleepOrShutdown(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping; repeat the request with the same payment', { cause });
  }
}
