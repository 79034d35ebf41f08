import type { Address, Hash, Hex } from 'viem';

/**
 * Extension of x402: the seller signs the offer of a 402, and a receipt for its payment.
 * https://github.com/x402-foundation/x402/blob/main/specs/extensions/extension-offer-and-receipt.md
 */
export const OFFER_RECEIPT = 'offer-receipt';

export interface OfferPayload {
  version: 1;
  resourceUrl: string;
  scheme: string;
  /** CAIP-2. */
  network: string;
  asset: string;
  payTo: string;
  /** Smallest units of the asset. */
  amount: string;
  /** Unix seconds. */
  validUntil: number;
}

export interface X402ReceiptPayload {
  version: 1;
  /** CAIP-2. */
  network: string;
  resourceUrl: string;
  payer: Address;
  /** Unix seconds. */
  issuedAt: number;
  transaction: Hash;
}

interface SignedPayload<Payload> {
  format: 'eip712';
  payload: Payload;
  signature: Hex;
}

/** `acceptIndex` is not signed: the entry of `accepts` with these terms. */
export type SignedOffer = SignedPayload<OfferPayload> & { acceptIndex: number };

export type X402Receipt = SignedPayload<X402ReceiptPayload>;

const OFFER_TYPES = {
  Offer: [
    { name: 'version', type: 'uint256' },
    { name: 'resourceUrl', type: 'string' },
    { name: 'scheme', type: 'string' },
    { name: 'network', type: 'string' },
    { name: 'asset', type: 'string' },
    { name: 'payTo', type: 'string' },
    { name: 'amount', type: 'string' },
    { name: 'validUntil', type: 'uint256' },
  ],
} as const;

const RECEIPT_TYPES = {
  Receipt: [
    { name: 'version', type: 'uint256' },
    { name: 'network', type: 'string' },
    { name: 'resourceUrl', type: 'string' },
    { name: 'payer', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'transaction', type: 'string' },
  ],
} as const;

/** EIP-712 data of an offer, sections 3.2 and 4.3: the domain has chain id 1 on every network. */
export function toOfferTypedData({ version, validUntil, ...payload }: OfferPayload) {
  const message = { ...payload, version: BigInt(version), validUntil: BigInt(validUntil) };
  return { domain: { name: 'x402 offer', version: '1', chainId: 1 }, types: OFFER_TYPES, primaryType: 'Offer', message } as const;
}

/** EIP-712 data of a receipt, sections 3.2 and 5.3. */
export function toX402ReceiptTypedData({ version, issuedAt, ...payload }: X402ReceiptPayload) {
  const message = { ...payload, version: BigInt(version), issuedAt: BigInt(issuedAt) };
  return { domain: { name: 'x402 receipt', version: '1', chainId: 1 }, types: RECEIPT_TYPES, primaryType: 'Receipt', message } as const;
}
