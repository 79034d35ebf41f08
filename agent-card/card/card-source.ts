import type { Address } from 'viem';

export interface CardSource {
  publicUrl: string;
  version: string;
  chainId: number;
  registry: Address;
  agentId: number;
  payments: CardPayments;
}

export interface CardPayments {
  payee: Address;
  asset: Address;
  receiptSigner: Address;
}
