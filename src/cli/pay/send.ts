import { setTimeout as delay } from 'node:timers/promises';
import { refusalOf, requestService, type ServiceAnswer } from '../../ask-service.ts';
import { isOracleError, type OracleError } from '../../errors.ts';
import { encodePayment, type SignedPayment } from './authorization.ts';

/** Longer than the service itself waits for a confirmation. */
const DEADLINE_MS = 60_000;
const ATTEMPTS = 5;
const LEAST_WAIT_MS = 1_000;
const MOST_WAIT_MS = 15_000;

export interface Sending {
  url: string;
  path: string;
  payment: SignedPayment;
  onRetry(text: string): void;
}

/** The answer to a payment: what was bought, or the refusal of this very payment. */
export type Sent = { body: unknown } | { refusal: OracleError };

/** Sends one payment until it is known what became of it: always the same one. @throws OracleError when that is not known in the end */
export async function sendPayment({ url, path, payment, onRetry }: Sending): Promise<Sent> {
  const headers = { 'PAYMENT-SIGNATURE': encodePayment(payment) };
  for (let attempt = 1; ; attempt++) {
    const sent = await requestService({ url, path, token: undefined, headers, deadlineMs: DEADLINE_MS }).then(
      (answer) => outcomeOf(answer, url),
      (error: unknown) => ({ unknown: error }),
    );
    if (!('unknown' in sent)) return sent;
    if (attempt === ATTEMPTS || !isRetryable(sent.unknown)) throw sent.unknown;
    onRetry(`${(sent.unknown as Error).message}; the same payment is sent again`);
    await delay(waitMs(sent.unknown, attempt));
  }
}

function outcomeOf(answer: ServiceAnswer, url: string): Sent | { unknown: unknown } {
  if (answer.status === 200 && answer.body !== undefined) return { body: answer.body };
  const refusal = refusalOf(answer, url);
  return refusal.retryable ? { unknown: refusal } : { refusal };
}

function isRetryable(error: unknown): error is OracleError {
  return isOracleError(error) && error.retryable;
}

function waitMs(error: OracleError, attempt: number): number {
  const asked = (error.retryAfterSeconds ?? 0) * 1_000;
  return Math.min(MOST_WAIT_MS, Math.max(LEAST_WAIT_MS * attempt, asked));
}
