import { createPaymentRejection } from '../../../../commerce/x402/protocol/payment-payload.ts';
import type { PaymentQuote } from '../../../../commerce/x402/protocol/payment-quote.ts';
import { PAYMENT_HEADERS, type PaymentHeader } from './payment-headers.ts';

/** A decoded payment, not validated yet. */
export interface PaymentProof {
  payment: unknown;
  headers: readonly PaymentHeader[];
}

const BASE64 = /^[\w+/-]+={0,2}$/;

/** Decodes the payment headers of a request; null without one. @throws PaymentRequiredError for a malformed payment, and for two */
export function readPaymentProof(header: (name: string) => string | undefined, quote: PaymentQuote): PaymentProof | null {
  const sent = PAYMENT_HEADERS.flatMap((name) => {
    const value = header(name);
    return value === undefined ? [] : [{ name, value }];
  });
  const [first] = sent;
  if (first === undefined) return null;
  const headers = sent.map(({ name }) => name);
  if (sent.some(({ value }) => value !== first.value)) {
    const message = `The request has two different payments: send one of ${headers.join(', ')}`;
    throw createPaymentRejection(quote, 'two_payments', { message });
  }
  return { payment: decodePayment(first.value, quote), headers };
}

function decodePayment(value: string, quote: PaymentQuote): unknown {
  if (!BASE64.test(value)) throw createPaymentRejection(quote, 'invalid_payload', { message: 'The payment is not base64' });
  try {
    return JSON.parse(Buffer.from(value, 'base64').toString('utf8')) ?? {};
  } catch {
    throw createPaymentRejection(quote, 'invalid_payload', { message: 'The payment is not base64 of JSON' });
  }
}
