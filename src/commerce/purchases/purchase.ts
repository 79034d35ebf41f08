import type { Address, Hash, Hex } from 'viem';
import { OFFERINGS } from '../offerings.ts';
import type { ReceivedPayment } from '../receipts/payment-response.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';

/** What can be bought by a transfer, in the order of the price table. */
export const PURCHASE_OFFERINGS = OFFERINGS.filter(({ channel }) => channel === 'purchase').map(({ name }) => name) as [
  string,
  ...string[],
];

/** What a buyer shows: a transfer that has paid for an offering. */
export interface PurchaseRequest {
  offering: string;
  /** In any case. */
  txHash: Hash;
  wallet: Address;
  /** Of `purchaseMessage`. */
  signature?: Hex;
  ref?: string;
}

/** What was paid, as the chain has it. */
export type PurchasePayment = Omit<ReceivedPayment, 'channel' | 'offering' | 'resource'>;

/** What a purchase delivers; the same each time. */
export interface PurchaseDelivery {
  offering: string;
  title: string;
  deliveredAt: Date;
  /** True when it had been delivered before. */
  again: boolean;
  document: Record<string, unknown>;
  payment: PurchasePayment;
  receipt: SignedReceipt;
}

/** The text that a buyer signs (EIP-191): whoever reads the chain knows hash and sender, and has no key. */
export function buildPurchaseMessage(offering: string, txHash: Hash): string {
  return `Buy svc offering: ${offering}:${txHash.toLowerCase()}`;
}

/** The same before there is a transfer. */
export function getPurchaseMessageTemplate(offering: string): string {
  return `Buy svc offering: ${offering}:<txHash in lower case>`;
}
