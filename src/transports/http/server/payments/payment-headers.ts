import type { Request } from 'express';
import type { PaymentQuote } from '../../../../commerce/x402/protocol/payment-quote.ts';

/** Request headers for a payment: of x402 version 2, of version 1, and of this interface (section 4.5). Each takes either version. */
export const PAYMENT_HEADERS = ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment'] as const;

export type PaymentHeader = (typeof PAYMENT_HEADERS)[number];

export const PAYMENT_REQUIRED_HEADER = 'PAYMENT-REQUIRED';

export const SETTLEMENT_HEADERS = { v2: 'PAYMENT-RESPONSE', v1: 'X-PAYMENT-RESPONSE' } as const;

export function hasPaymentHeader(request: Pick<Request, 'get'>): boolean {
  return PAYMENT_HEADERS.some((name) => request.get(name) !== undefined);
}

export function encodePaymentHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Settlement response headers in the protocol versions of the client. @param sentIn headers that carried the payment */
export function buildSettlementHeaders(
  settlement: (network: string) => { success: boolean },
  { requirements, requirementsV1 }: PaymentQuote,
  sentIn: readonly PaymentHeader[],
): Record<string, string> {
  const inV2 = sentIn.includes('PAYMENT-SIGNATURE') || sentIn.includes('X-402-Payment');
  const inV1 = (sentIn.includes('X-PAYMENT') || sentIn.includes('X-402-Payment')) && requirementsV1 !== null;
  const v2 = settlement(requirements.network);
  const amount = v2.success ? { amount: requirements.amount } : {};
  return {
    ...(inV2 ? { [SETTLEMENT_HEADERS.v2]: encodePaymentHeader({ ...v2, ...amount }) } : {}),
    ...(inV1 ? { [SETTLEMENT_HEADERS.v1]: encodePaymentHeader(settlement(requirementsV1.network)) } : {}),
  };
}
