import { setTimeout as delay } from 'node:timers/promises';
import { decodeBase64Json, encodeBase64Json } from '../../../payer/base64-json.ts';
import type { SignedPayment } from '../../../payer/payment-signer.ts';
import { isOracleError, type OracleError } from '../../../platform/errors.ts';
import { parseServiceError, type ServiceResponse, sendServiceRequest } from '../../../platform/service-client/service-client.ts';

const DEADLINE_MS = 60_000;
const MAX_ATTEMPTS = 5;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15_000;

interface SendPaymentOptions {
  url: string;
  path: string;
  payment: SignedPayment;
  onRetry(text: string): void;
}

interface DeliveredAnswer {
  body: unknown;
  /** Decoded header PAYMENT-RESPONSE, unchecked; undefined where it cannot be read. */
  settlement: unknown;
}

type PaymentOutcome = DeliveredAnswer | { rejection: OracleError };

/** Sends the same payment until the service accepts or rejects it. @throws OracleError when the outcome stays unknown */
export async function sendPayment({ url, path, payment, onRetry }: SendPaymentOptions): Promise<PaymentOutcome> {
  const headers = { 'PAYMENT-SIGNATURE': encodeBase64Json(payment) };
  for (let attempt = 1; ; attempt++) {
    const sent = await sendServiceRequest({ url, path, token: undefined, headers, deadlineMs: DEADLINE_MS }).then(
      (answer) => toPaymentOutcome(answer, url),
      (error: unknown) => ({ unknown: error }),
    );
    if (!('unknown' in sent)) return sent;
    const { unknown: error } = sent;
    if (attempt === MAX_ATTEMPTS || !isOracleError(error) || !error.retryable) throw error;
    onRetry(`${error.message}; the same payment is sent again`);
    const askedMs = (error.retryAfterSeconds ?? 0) * 1_000;
    await delay(Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS * attempt, askedMs)));
  }
}

function readSettlement({ headers }: ServiceResponse): unknown {
  try {
    return decodeBase64Json(headers.get('PAYMENT-RESPONSE') ?? '');
  } catch {
    return undefined;
  }
}

function toPaymentOutcome(answer: ServiceResponse, url: string): PaymentOutcome | { unknown: unknown } {
  if (answer.status === 200 && answer.body !== undefined) return { body: answer.body, settlement: readSettlement(answer) };
  const rejection = parseServiceError(answer, url);
  return rejection.retryable ? { unknown: rejection } : { rejection };
}
