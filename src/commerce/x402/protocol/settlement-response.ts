import { type Address, getAddress } from 'viem';
import { toPaymentResponse, toReceiptResponse } from '../../receipts/payment-response.ts';
import type { SignedReceipt } from '../../receipts/receipt.ts';
import type { X402Payment } from '../paid-call.ts';
import type { X402ErrorCode } from './error-codes.ts';

export function toSettlementResponse({ payer, txHash }: Pick<X402Payment, 'payer' | 'txHash'>, network: string) {
  return { success: true, transaction: txHash, network, payer: getAddress(payer) } as const;
}

export function toFailedSettlementResponse({ payer, x402Code }: { payer: Address; x402Code: X402ErrorCode }, network: string) {
  return { success: false, errorReason: x402Code, transaction: '', network, payer: getAddress(payer) } as const;
}

export function toSaleResponse({ payment, receipt }: { payment: X402Payment; receipt: SignedReceipt }) {
  return { payment: toPaymentResponse(payment), receipt: toReceiptResponse(receipt) };
}
