import { createPaymentRejection } from '../../../../commerce/x402/protocol/payment-payload.ts';
import type { PaymentQuote } from '../../../../commerce/x402/protocol/payment-quote.ts';
import { PAYMENT_HEADERS, type PaymentHeader } from './payment-headers.ts';

/** A payment as it was sent; what is in it nobody has looked at yet. */
export interface PaymentProof {
  payment: unknown;
  /** That it came in. */
  headers: readonly PaymentHeader[];
}

/** The alphabet of base64, and the one for URLs. */
const BASE64 = /^[\w+/-]+={0,2}$/;

/** The payment in the headers of a request; null without one. @throws PaymentRequiredError for one that cannot be read, and for two */
export function readPaymentProof(header: (name: string) => string | undefined, terms: PaymentQuote): PaymentProof | null {
  const sent = PAYMENT_HEADERS.flatMap((name) => {
    const value = header(name);
    return value === undefined ? [] : [{ name, value }];
  });
  const [first] = sent;
  if (first === undefined) return null;
  if (sent.some(({ value }) => value !== first.value)) {
    const message = `Two different payments came with one request: send one of ${sent.map(({ name }) => name).join(', ')}`;
    throw createPaymentRejection(terms, 'two_payments', { message });
  }
  return { payment: decodePayment(first.value, terms), headers: sent.map(({ name }) => name) };
}

function decodePayment(value: string, terms: PaymentQuote): unknown {
  if (!BASE64.test(value))
    throw createPaymentRejection(terms, 'invalid_payload', { message: 'The payment cannot be read: it is not base64' });
  try {
    return JSON.parse(Buffer.from(value, 'base64').toString('utf8')) ?? {};
  } catch {
    throw createPaymentRejection(terms, 'invalid_payload', { message: 'The payment cannot be read: its base64 does not hold JSON' });
  }
}
