import { type Address, getAddress } from 'viem';
import { OFFER_RECEIPT, type X402Receipt } from '../../receipts/offer-receipt.ts';
import { toPaymentResponse, toReceiptResponse } from '../../receipts/payment-response.ts';
import type { SignedReceipt } from '../../receipts/receipt.ts';
import type { X402Payment } from '../paid-call.ts';
import type { X402ErrorCode } from './error-codes.ts';

export interface SettledSale {
  payment: Pick<X402Payment, 'payer' | 'txHash'>;
  x402Receipt: X402Receipt | null;
}

export function toSettlementResponse({ payment: { payer, txHash }, x402Receipt }: SettledSale, network: string) {
  const extensions =
    x402Receipt === null ? {} : { extensions: { [OFFER_RECEIPT]: { info: { receipt: x402Receipt }, schema: RECEIPT_SCHEMA } } };
  return { success: true, transaction: txHash, network, payer: getAddress(payer), ...extensions } as const;
}

const RECEIPT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { receipt: { type: 'object', required: ['format', 'payload', 'signature'] } },
  required: ['receipt'],
};

export function toFailedSettlementResponse({ payer, x402Code }: { payer: Address; x402Code: X402ErrorCode }, network: string) {
  return { success: false, errorReason: x402Code, transaction: '', network, payer: getAddress(payer) } as const;
}

export function toSaleResponse({ payment, receipt }: { payment: X402Payment; receipt: SignedReceipt }) {
  return { payment: toPaymentResponse(payment), receipt: toReceiptResponse(receipt) };
}
