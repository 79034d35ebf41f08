import { setTimeout as delay } from 'node:timers/promises';
import { isOracleError, type OracleError } from '../../../platform/errors.ts';
import { parseServiceError, type ServiceResponse, sendServiceRequest } from '../../../platform/service-client/service-client.ts';
import { encodePayment, type SignedPayment } from './authorization.ts';

/** Longer than the service itself waits for a confirmation. */
const DEADLINE_MS = 60_000;
const MAX_ATTEMPTS = 5;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15_000;

export interface SendPaymentOptions {
  url: string;
  path: string;
  payment: SignedPayment;
  onRetry(text: string): void;
}

/** The answer to a payment: what was bought, or the refusal of this very payment. */
export type PaymentOutcome = { body: unknown } | { refusal: OracleError };

/** Sends one payment until it is known what became of it: always the same one. @throws OracleError when that is not known in the end */
export async function sendPayment({ url, path, payment, onRetry }: SendPaymentOptions): Promise<PaymentOutcome> {
  const headers = { 'PAYMENT-SIGNATURE': encodePayment(payment) };
  for (let attempt = 1; ; attempt++) {
    const sent = await sendServiceRequest({ url, path, token: undefined, headers, deadlineMs: DEADLINE_MS }).then(
      (answer) => toPaymentOutcome(answer, url),
      (error: unknown) => ({ unknown: error }),
    );
    if (!('unknown' in sent)) return sent;
    if (attempt === MAX_ATTEMPTS || !isRetryable(sent.unknown)) throw sent.unknown;
    onRetry(`${(sent.unknown as Error).message}; the same payment is sent again`);
    await delay(computeRetryDelayMs(sent.unknown, attempt));
  }
}

function toPaymentOutcome(answer: ServiceResponse, url: string): PaymentOutcome | { unknown: unknown } {
  if (answer.status === 200 && answer.body !== undefined) return { body: answer.body };
  const rejection = parseServiceError(answer, url);
  return rejection.retryable ? { unknown: rejection } : { refusal: rejection };
}

function isRetryable(error: unknown): error is OracleError {
  return isOracleError(error) && error.retryable;
}

function computeRetryDelayMs(error: OracleError, attempt: number): number {
  const asked = (error.retryAfterSeconds ?? 0) * 1_000;
  return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS * attempt, asked));
}
