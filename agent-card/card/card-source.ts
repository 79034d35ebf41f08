import type { Address } from 'viem';

/** Values of the card that depend on the deployment. */
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
