import { createHash } from 'node:crypto';
import { hashMessage, zeroAddress } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import type { MerchantConfig } from '../merchant-config.ts';
import { notPaidError, signatureRequiredError, wrongSignatureError } from './errors.ts';
import { buildPurchaseMessage, type PurchaseRequest } from './purchase.ts';
import type { PurchaseDoc } from './purchase-store.ts';

/** Whether a purchase needs the buyer's signature from the first call on. */
export type SignatureRule = 'optional' | 'required';

export interface BuyerCheckDeps {
  chain: Pick<Chain, 'client'>;
  merchant: MerchantConfig;
  signatures: SignatureRule;
  /** Contracts of the service's other ways to be paid: what these send is paid for already. */
  excludedBuyers: readonly string[];
}

/**
 * Looks whether a caller may be the one who paid, before anything is delivered: everybody can read hash and sender on chain.
 * @param known what stands of this transaction; null at first sight
 * @param address where the call comes from, as the limits count it
 * @returns SHA-256 of the signature; null without one
 * @throws OracleError PAYMENT_REQUIRED naming `signature` without one, UNAUTHENTICATED with a wrong one, INPUT_INVALID naming `wallet`,
 * CHAIN_UNREACHABLE
 */
export async function checkBuyer(
  { chain, merchant, signatures, excludedBuyers: notBuyers }: BuyerCheckDeps,
  request: PurchaseRequest,
  { known, address }: { known: PurchaseDoc | null; address: string },
): Promise<string | null> {
  const { wallet, signature } = request;
  if ([zeroAddress, ...notBuyers].some((other) => other.toLowerCase() === wallet.toLowerCase())) {
    throw notPaidError('wallet', 'That address is no wallet of a buyer', merchant);
  }
  if (signature === undefined) {
    requireUnsignedAllowed(request, { signatures, known, address });
    return null;
  }
  const digest = createHash('sha256').update(signature.toLowerCase()).digest('hex');
  // Seen and found good before: the chain is not asked again.
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
    throw signatureRequiredError('This purchase was signed for: it is delivered to signed requests only', request);
  if (known.address !== address) throw signatureRequiredError('This purchase was made from another address', request);
}
