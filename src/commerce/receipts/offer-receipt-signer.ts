import { getAddress, type LocalAccount } from 'viem';
import {
  type OfferPayload,
  type SignedOffer,
  toOfferTypedData,
  toX402ReceiptTypedData,
  type X402Receipt,
  type X402ReceiptPayload,
} from './offer-receipt.ts';
import type { ReceiptData } from './receipt.ts';

export interface OfferTerms {
  resourceUrl: string;
  requirements: Pick<OfferPayload, 'scheme' | 'network' | 'asset' | 'payTo' | 'amount'>;
  /** Unix seconds. */
  validUntil: number;
}

/** Signs the first entry of `accepts`. @throws OracleError SIGNER_UNAVAILABLE */
export type SignOffer = (terms: OfferTerms) => Promise<SignedOffer>;

export type X402ReceiptData = Pick<ReceiptData, 'payer' | 'resource' | 'txHash' | 'settledAt'>;

/**
 * Signs the receipt of the extension for the sale of our own receipt: same payer, resource, transaction, and `settledAt` as `issuedAt`.
 * @throws OracleError SIGNER_UNAVAILABLE
 */
export type SignX402Receipt = (sale: X402ReceiptData) => Promise<X402Receipt>;

export function createOfferSigner(account: LocalAccount): SignOffer {
  return async ({ resourceUrl, requirements, validUntil }) => {
    const { scheme, network, asset, payTo, amount } = requirements;
    const payload: OfferPayload = { version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil };
    return { format: 'eip712', acceptIndex: 0, payload, signature: await account.signTypedData(toOfferTypedData(payload)) };
  };
}

export function createX402ReceiptSigner(account: LocalAccount, network: string): SignX402Receipt {
  return async ({ payer, resource, txHash, settledAt }) => {
    const issuedAt = Math.floor(settledAt.getTime() / 1_000);
    const payload: X402ReceiptPayload = {
      version: 1,
      network,
      resourceUrl: resource,
      payer: getAddress(payer),
      issuedAt,
      transaction: txHash,
    };
    return { format: 'eip712', payload, signature: await account.signTypedData(toX402ReceiptTypedData(payload)) };
  };
}
