import type { Request } from 'express';

/** Headers that a payment comes in: of x402 version 2, of version 1, and of this interface (section 4.5). Either version may come in any. */
export const PROOF_HEADERS = ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment'] as const;

export type ProofHeader = (typeof PROOF_HEADERS)[number];

/** Says what has to be paid, with a 402. */
export const TERMS_HEADER = 'PAYMENT-REQUIRED';

/** Say what was paid, in version 2 and in version 1. */
export const SETTLEMENT_HEADERS = { v2: 'PAYMENT-RESPONSE', v1: 'X-PAYMENT-RESPONSE' } as const;

/** Whether something that may be a payment came with a request. */
export function carriesPayment(request: Pick<Request, 'get'>): boolean {
  return PROOF_HEADERS.some((name) => request.get(name) !== undefined);
}

/** What headers of the protocol hold: JSON in base64. */
export function headerValue(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}
