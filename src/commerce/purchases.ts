import { createHash, randomUUID } from 'node:crypto';
import { type Collection, type Db, Long } from 'mongodb';
import { type Address, type Hash, type Hex, hashMessage, zeroAddress } from 'viem';
import type { Chain } from '../chain/client.ts';
import { isSignedBy } from '../chain/contracts.ts';
import { OracleError, type OracleErrorOptions } from '../errors.ts';
import { type CollectionIndexes, ignoreDuplicate } from '../platform/mongo.ts';
import { repeatIfUncertain, undoIfUncertain } from '../platform/retry.ts';
import { formatAmount, getCaip2Network, type MerchantConfig, type Money, OFFERINGS, usdFromMicros } from './offerings.ts';
import type { ReceivedPayment } from './receipt-signer.ts';
import type { SignedReceipt } from './receipts.ts';

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
    if (signatures === 'required') throw signatureRequiredError("A purchase needs the buyer's signature", request);
    if (known === null) return null;
    if (known.signatureHash !== null)
      throw signatureRequiredError('This purchase was claimed with a signature: it is delivered to signed requests only', request);
    if (known.address !== address) throw signatureRequiredError('This purchase was claimed from another address', request);
    return null;
  }
  const digest = createHash('sha256').update(signature.toLowerCase()).digest('hex');
  // Verified before; saves the chain read.
  if (known?.signatureHash === digest) return digest;
  const hash = hashMessage(buildPurchaseMessage(request.offering, request.txHash));
  if (await isSignedBy(chain, { wallet, hash, signature })) return digest;
  throw new OracleError('UNAUTHENTICATED', 'The signature is not from that wallet for this purchase', buildSigningOptions(request));
}

type Payee = Pick<MerchantConfig, 'payee' | 'asset' | 'chainId'>;

export function notPaidError(field: 'txHash' | 'wallet', problem: string, { payee, asset, chainId }: Payee): OracleError {
  const suggestedAction = `Transfer the price from your wallet to ${payee} in the stablecoin ${asset} on ${getCaip2Network({ chainId })}, then submit the hash of that transfer.`;
  return new OracleError('INPUT_INVALID', problem, { field, suggestedAction });
}

export function alreadyUsedError(field: 'wallet' | 'offering'): OracleError {
  const whose = field === 'wallet' ? 'was used by another wallet' : 'has paid for another offering';
  return new OracleError('INPUT_INVALID', `This transaction ${whose}`, {
    field,
    suggestedAction: 'Name the wallet and offering that it paid for, or pay in a separate transaction.',
  });
}

export function underpaidError(paidMicros: bigint, price: Money, merchant: Payee): OracleError {
  const missing = price.amount - paidMicros;
  const usd = (micros: bigint) => formatAmount(usdFromMicros(micros));
  return new OracleError('PAYMENT_REQUIRED', `${usd(paidMicros)} USD were paid, and the price is ${formatAmount(price)} USD`, {
    field: 'txHash',
    suggestedAction: `${usd(missing)} USD are missing, and several transactions are not added up: send the full price of ${formatAmount(price)} USD in ONE new transaction. The smaller transfer stays unclaimed; the operator sees it with its sender in the reconciliation.`,
    details: {
      paid: paidMicros.toString(),
      price: price.amount.toString(),
      missing: missing.toString(),
      paidUsd: usd(paidMicros),
      priceUsd: formatAmount(price),
      missingUsd: usd(missing),
      payee: merchant.payee,
      asset: merchant.asset,
      chain: getCaip2Network(merchant),
    },
  });
}

/** @param confirmations depth of the transaction's block, its own included; 0 while pending */
export function notConfirmedError(confirmations: number, required: number): OracleError {
  return new OracleError('TRANSFER_UNCONFIRMED', `The transaction has ${confirmations} of ${required} confirmations`, {
    field: 'txHash',
    suggestedAction: 'Repeat the request in a moment: the payment is not lost.',
    details: { confirmations, required },
    retryAfterSeconds: 5,
  });
}

type UnsignedClaim = Pick<PurchaseRequest, 'offering' | 'txHash'>;

/** @param problem why the signature is required */
function signatureRequiredError(problem: string, request: UnsignedClaim): OracleError {
  return new OracleError('PAYMENT_REQUIRED', problem, buildSigningOptions(request));
}

function buildSigningOptions({ offering, txHash }: UnsignedClaim): OracleErrorOptions {
  const signMessage = buildPurchaseMessage(offering, txHash);
  return {
    field: 'signature',
    suggestedAction: `Do not pay again. Sign exactly "${signMessage}" (EIP-191) with the wallet that paid, and repeat the request with it as "signature".`,
    details: { signMessage, signScheme: 'EIP-191' },
  };
}

export function transactionNotSeenError(merchant: Payee, required: number): OracleError {
  return new OracleError('TRANSFER_UNCONFIRMED', `The node has not seen this transaction on ${getCaip2Network(merchant)} yet`, {
    field: 'txHash',
    suggestedAction:
      'Repeat the request in a moment. If this persists for minutes, the hash is wrong, or the transaction is on another chain or was dropped.',
    details: { confirmations: 0, required },
    retryAfterSeconds: 5,
  });
}

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

/** A transfer that paid for an offering, with its delivery. Addresses and hashes in lower case. */
export interface PurchaseDoc extends Omit<PurchasePayment, 'payer' | 'amountMicros' | 'txHash'> {
  /** Hash of the transfer, which pays for one purchase only. */
  _id: Hash;
  offering: string;
  wallet: Address;
  amountMicros: Long | number;
  /** Client address of the first claim: unsigned requests from another address get nothing. */
  address: string;
  /** SHA-256 of the last signature, or null. After a signed request every request must be signed. */
  signatureHash: string | null;
  /** Start of the current lease on composing the document. */
  composingAt: Date;
  /** Lease holder; unset before the first lease. */
  holder?: string;
  delivery: PurchaseDeliveryDoc | null;
  isOpen?: true;
  /** Last sweep; initially the time of the claim. */
  sweptAt: Date;
}

interface PurchaseDeliveryDoc {
  /** RFC 8785 JSON of the document. */
  json: string;
  receipt: SignedReceipt;
  deliveredAt: Date;
}

/** Longer than any composition, after which the lease holder is considered crashed. Measured by the database's clock. */
export const PURCHASE_LEASE_MS = 30_000;

const NEVER = new Date(0);
const IS_LEASE_EXPIRED = { $expr: { $lte: ['$composingAt', { $subtract: ['$$NOW', PURCHASE_LEASE_MS] }] } };

type NewPurchase = Omit<PurchasePayment, 'payer'> & Pick<PurchaseDoc, 'offering' | 'wallet' | 'address' | 'signatureHash'>;

export interface PurchaseLease {
  txHash: Hash;
  holder: string;
}

const SWEEP_KEY = { isOpen: 1, sweptAt: 1 } as const;

export const PURCHASE_INDEXES = [
  { collection: 'purchases', indexes: [{ key: SWEEP_KEY, sparse: true }] },
] as const satisfies CollectionIndexes[];

export class PurchaseStore {
  readonly #purchases: Collection<PurchaseDoc>;

  constructor(db: Db) {
    this.#purchases = db.collection('purchases');
  }

  find(txHash: Hash): Promise<PurchaseDoc | null> {
    return this.#purchases.findOne({ _id: txHash });
  }

  /** Stores a purchase unless the transaction has one, and returns the stored one. */
  async claim({ txHash, amountMicros, ...purchase }: NewPurchase): Promise<PurchaseDoc> {
    const unclaimed = { composingAt: NEVER, delivery: null, isOpen: true as const, sweptAt: new Date() };
    const doc = { ...purchase, ...unclaimed, _id: txHash, amountMicros: Long.fromBigInt(amountMicros) };
    await this.#purchases.insertOne(doc).catch(ignoreDuplicate);
    return (await this.find(txHash)) as PurchaseDoc;
  }

  /** Paid but undelivered purchases, least recently swept first. */
  listUndelivered(): Promise<PurchaseDoc[]> {
    return this.#purchases.find({ isOpen: true }, { hint: SWEEP_KEY }).sort({ sweptAt: 1 }).limit(100).toArray();
  }

  async markSwept(txHash: Hash): Promise<void> {
    await this.#purchases.updateOne({ _id: txHash }, { $currentDate: { sweptAt: true } });
  }

  async markSigned(txHash: Hash, signatureHash: string): Promise<void> {
    await this.#purchases.updateOne({ _id: txHash }, { $set: { signatureHash } });
  }

  /** Acquires the lease; null while another process holds it, or after the delivery. */
  async acquireLease(txHash: Hash): Promise<PurchaseLease | null> {
    const holder = randomUUID();
    const change = { $set: { holder }, $currentDate: { composingAt: true as const } };
    const acquired = this.#purchases.updateOne({ _id: txHash, delivery: null, ...IS_LEASE_EXPIRED }, change);
    const { modifiedCount } = await undoIfUncertain(acquired, () => this.releaseLease({ txHash, holder }));
    return modifiedCount === 1 ? { txHash, holder } : null;
  }

  /** Releases the lease after a failure, unless another process has acquired it since. */
  async releaseLease({ txHash, holder }: PurchaseLease): Promise<void> {
    await repeatIfUncertain(() => this.#purchases.updateOne({ _id: txHash, delivery: null, holder }, { $set: { composingAt: NEVER } }));
  }

  /** Stores the delivery if the lease is still held, and returns the purchase; its delivery is null while another holder composes it. */
  async saveDelivery({ txHash, holder }: PurchaseLease, delivery: PurchaseDeliveryDoc): Promise<PurchaseDoc> {
    await this.#purchases.updateOne({ _id: txHash, delivery: null, holder }, { $set: { delivery }, $unset: { isOpen: true } });
    return (await this.find(txHash)) as PurchaseDoc;
  }
}

export function toPurchasePayment(doc: PurchaseDoc): PurchasePayment {
  const { _id: txHash, wallet: payer, payee, asset, chain, amountMicros, settledAt, ref, block } = doc;
  return { payer, payee, asset, chain, amountMicros: BigInt(amountMicros.toString()), txHash, settledAt, ref, block };
}
