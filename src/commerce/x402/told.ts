import type { SignedReceipt } from '../receipt.ts';
import type { PaidFor } from './paid-call.ts';

/** `SettlementResponse` of the protocol, for a payment that has arrived. */
export function settlementResponse({ payer, txHash }: Pick<PaidFor, 'payer' | 'txHash'>, network: string) {
  return { success: true, transaction: txHash, network, payer } as const;
}

/** How an answer was paid for, with its receipt, as JSON: amounts as digits, times in ISO 8601. */
export function toldPurchase({ payment, receipt }: { payment: PaidFor; receipt: SignedReceipt }) {
  const { amountMicros, settledAt, ...rest } = payment;
  return { payment: { ...rest, amountMicros: amountMicros.toString(), settledAt: settledAt.toISOString() }, receipt };
}
