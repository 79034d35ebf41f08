import { createPaymentRejection, isPaymentPayload } from '../../../../commerce/x402/protocol/payment-payload.ts';
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

/** Whether the payment headers hold one payload of a known form, which a request must have to be treated as a payment without a quote. */
export function hasPaymentPayload(header: (name: string) => string | undefined): boolean {
  const sent = new Set(PAYMENT_HEADERS.map((name) => header(name)).filter((value) => value !== undefined));
  const [value] = sent;
  return sent.size === 1 && BASE64.test(value) && isPaymentPayload(parseBase64Json(value));
}

function decodePayment(value: string, quote: PaymentQuote): unknown {
  if (!BASE64.test(value)) throw createPaymentRejection(quote, 'invalid_payload', { message: 'The payment is not base64' });
  const payment = parseBase64Json(value);
  if (payment === undefined) throw createPaymentRejection(quote, 'invalid_payload', { message: 'The payment is not base64 of JSON' });
  return payment ?? {};
}

/** Undefined if it is not JSON. */
function parseBase64Json(value: string): unknown {
  try {
    return JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
