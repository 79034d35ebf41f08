import type { Request } from 'express';
import type { PaymentQuote } from '../../../../commerce/x402/protocol/payment-quote.ts';

/** Headers that a payment comes in: of x402 version 2, of version 1, and of this interface (section 4.5). Either version may come in any. */
export const PAYMENT_HEADERS = ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment'] as const;

export type PaymentHeader = (typeof PAYMENT_HEADERS)[number];

/** Says what has to be paid, with a 402. */
export const PAYMENT_REQUIRED_HEADER = 'PAYMENT-REQUIRED';

/** Say what was paid, in version 2 and in version 1. */
export const SETTLEMENT_HEADERS = { v2: 'PAYMENT-RESPONSE', v1: 'X-PAYMENT-RESPONSE' } as const;

/** Whether something that may be a payment came with a request. */
export function hasPaymentHeader(request: Pick<Request, 'get'>): boolean {
  return PAYMENT_HEADERS.some((name) => request.get(name) !== undefined);
}

/** What headers of the protocol hold: JSON in base64. */
export function encodePaymentHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** What became of a payment, in the words of the versions that its client speaks. @param sentIn headers that the payment came in */
export function buildSettlementHeaders(
  settlement: (network: string) => { success: boolean },
  { requirements, requirementsV1 }: PaymentQuote,
  sentIn: readonly PaymentHeader[],
): Record<string, string> {
  const names = new Set(sentIn);
  const inV2 = names.has('PAYMENT-SIGNATURE') || names.has('X-402-Payment');
  const inV1 = (names.has('X-PAYMENT') || names.has('X-402-Payment')) && requirementsV1 !== null;
  const v2 = settlement(requirements.network);
  const amount = v2.success ? { amount: requirements.amount } : {};
  return {
    ...(inV2 ? { [SETTLEMENT_HEADERS.v2]: encodePaymentHeader({ ...v2, ...amount }) } : {}),
    ...(inV1 ? { [SETTLEMENT_HEADERS.v1]: encodePaymentHeader(settlement(requirementsV1.network)) } : {}),
  };
}
