import { createHash } from 'node:crypto';
import { hashMessage, zeroAddress } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import type { MerchantConfig } from '../merchant-config.ts';
import { notPaidError, signatureRequiredError, wrongSignatureError } from './errors.ts';
import { buildPurchaseMessage, type PurchaseRequest } from './purchase.ts';
import type { PurchaseDoc } from './purchase-store.ts';

export type SignatureRule = 'optional' | 'required';

export interface BuyerCheckDeps {
  chain: Pick<Chain, 'client'>;
  merchant: MerchantConfig;
  signatures: SignatureRule;
  /** Contracts of other payment channels: their transfers have already been paid for. */
  excludedBuyers: readonly string[];
}

/**
 * Hash and sender of a transfer are public on chain and prove nothing. Returns the SHA-256 of the signature; null without one.
 * @throws OracleError PAYMENT_REQUIRED without a signature, UNAUTHENTICATED with a wrong one, INPUT_INVALID, CHAIN_UNREACHABLE
 */
export async function checkBuyer(
  { chain, merchant, signatures, excludedBuyers }: BuyerCheckDeps,
  request: PurchaseRequest,
  { known, address }: { known: PurchaseDoc | null; address: string },
): Promise<string | null> {
  const { wallet, signature } = request;
  if ([zeroAddress, ...excludedBuyers].some((other) => other.toLowerCase() === wallet.toLowerCase())) {
    throw notPaidError('wallet', 'That address cannot be a buyer', merchant);
  }
  if (signature === undefined) {
    requireUnsignedAllowed(request, { signatures, known, address });
    return null;
  }
  const digest = createHash('sha256').update(signature.toLowerCase()).digest('hex');
  // Verified before; saves the chain read.
  if (known?.signatureHash === digest) return digest;
  const hash = hashMessage(buildPurchaseMessage(request.offering, request.txHash));
  if (await isSignedBy(chain, { wallet, hash, signature })) return digest;
  throw wrongSignatureError(request);
}

function requireUnsignedAllowed(
  request: PurchaseRequest,
  { signatures, known, address }: Pick<BuyerCheckDeps, 'signatures'> & { known: PurchaseDoc | null; address: string },
): void {
  if (signatures === 'required') throw signatureRequiredError("A purchase needs the buyer's signature", request);
  if (known === null) return;
  if (known.signatureHash !== null)
    throw signatureRequiredError('This purchase was claimed with a signature: it is delivered to signed requests only', request);
  if (known.address !== address) throw signatureRequiredError('This purchase was claimed from another address', request);
}
