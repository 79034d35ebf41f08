import type { Address, Hash, Hex } from 'viem';
import { OFFERINGS } from '../price-list.ts';
import type { ReceivedPayment } from '../receipts/payment-response.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';

export const PURCHASE_OFFERINGS = OFFERINGS.filter(({ channel }) => channel === 'purchase').map(({ name }) => name) as [
  string,
  ...string[],
];

export interface PurchaseRequest {
  offering: string;
  txHash: Hash;
  wallet: Address;
  /** Of `buildPurchaseMessage`. */
  signature?: Hex;
  ref?: string;
}

export type PurchasePayment = Omit<ReceivedPayment, 'channel' | 'offering' | 'resource'>;

/** Delivery of a purchase, identical for every request. */
export interface PurchaseDelivery {
  offering: string;
  title: string;
  deliveredAt: Date;
  /** True for a repeated delivery. */
  again: boolean;
  document: Record<string, unknown>;
  payment: PurchasePayment;
  receipt: SignedReceipt;
}

/** Message that the buyer signs (EIP-191): hash and sender are public on chain, the key is not. */
export function buildPurchaseMessage(offering: string, txHash: Hash): string {
  return `Buy svc offering: ${offering}:${txHash.toLowerCase()}`;
}

export function getPurchaseMessageTemplate(offering: string): string {
  return `Buy svc offering: ${offering}:<txHash in lower case>`;
}
