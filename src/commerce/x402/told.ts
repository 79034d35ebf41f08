import { type Address, getAddress } from 'viem';
import type { SignedReceipt } from '../receipt.ts';
import { toldPayment, toldReceipt } from '../told-payment.ts';
import type { X402ErrorCode } from './error-code.ts';
import type { PaidFor } from './paid-call.ts';

/** `SettlementResponse` of the protocol, for a payment that has arrived. */
export function settlementResponse({ payer, txHash }: Pick<PaidFor, 'payer' | 'txHash'>, network: string) {
  return { success: true, transaction: txHash, network, payer: getAddress(payer) } as const;
}

/** `SettlementResponse` of the protocol, for a payment that was found good and then not settled. */
export function refusedSettlement({ payer, x402Code }: { payer: Address; x402Code: X402ErrorCode }, network: string) {
  return { success: false, errorReason: x402Code, transaction: '', network, payer: getAddress(payer) } as const;
}

/** How an answer was paid for, with its receipt, as JSON. */
export function toldPurchase({ payment, receipt }: { payment: PaidFor; receipt: SignedReceipt }) {
  return { payment: toldPayment(payment), receipt: toldReceipt(receipt) };
}
