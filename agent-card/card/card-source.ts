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

/** Parties of x402 payments. */
export interface CardPayments {
  payee: Address;
  /** Stablecoin contract. */
  asset: Address;
  /** Signer of receipts. */
  receiptSigner: Address;
}
