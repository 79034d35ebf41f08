import { refusal } from '../commerce/x402/payload.ts';
import type { Terms } from '../commerce/x402/terms.ts';
import { PROOF_HEADERS, type ProofHeader } from './payment-headers.ts';

/** A payment as it was sent; what is in it nobody has looked at yet. */
export interface Proof {
  payment: unknown;
  /** That it came in. */
  headers: readonly ProofHeader[];
}

/** The alphabet of base64, and the one for URLs. */
const BASE64 = /^[\w+/-]+={0,2}$/;

/** The payment in the headers of a request; null without one. @throws PaymentRequiredError for one that cannot be read, and for two */
export function readProof(header: (name: string) => string | undefined, terms: Terms): Proof | null {
  const sent = PROOF_HEADERS.flatMap((name) => {
    const value = header(name);
    return value === undefined ? [] : [{ name, value }];
  });
  const [first] = sent;
  if (first === undefined) return null;
  if (sent.some(({ value }) => value !== first.value)) {
    const message = `Two different payments came with one request: send one of ${sent.map(({ name }) => name).join(', ')}`;
    throw refusal(terms, 'two_payments', { message });
  }
  return { payment: decoded(first.value, terms), headers: sent.map(({ name }) => name) };
}

function decoded(value: string, terms: Terms): unknown {
  if (!BASE64.test(value)) throw refusal(terms, 'invalid_payload', { message: 'The payment cannot be read: it is not base64' });
  try {
    return JSON.parse(Buffer.from(value, 'base64').toString('utf8')) ?? {};
  } catch {
    throw refusal(terms, 'invalid_payload', { message: 'The payment cannot be read: its base64 does not hold JSON' });
  }
}
