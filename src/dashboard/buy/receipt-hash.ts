import { type Hex, hashTypedData } from 'viem';
import { getReceiptDomain, RECEIPT_TYPES, type SignedReceipt } from '../../commerce/receipts/receipt.ts';

/** The EIP-712 hash that the seller signs. */
export function hashReceipt(message: SignedReceipt['message'], chainId: number): Hex {
  const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
  return hashTypedData({ domain: getReceiptDomain(chainId), types: RECEIPT_TYPES, primaryType: 'Receipt', message: typed });
}
