import { randomUUID } from 'node:crypto';
import { type Collection, type Db, Long } from 'mongodb';
import type { Address, Hash } from 'viem';
import { type CollectionIndexes, ignoreDuplicate } from '../../platform/mongo.ts';
import { repeatIfUncertain, undoIfUncertain } from '../../platform/uncertain-write.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import type { PurchasePayment } from './purchase.ts';

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

export interface PurchaseDeliveryDoc {
  /** RFC 8785 JSON of the document. */
  json: string;
  receipt: SignedReceipt;
  deliveredAt: Date;
}

/** Longer than any composition, after which the lease holder is considered crashed. Measured by the database's clock. */
export const PURCHASE_LEASE_MS = 30_000;

const NEVER = new Date(0);
const IS_LEASE_EXPIRED = { $expr: { $lte: ['$composingAt', { $subtract: ['$$NOW', PURCHASE_LEASE_MS] }] } };

export type NewPurchase = Omit<PurchasePayment, 'payer'> & Pick<PurchaseDoc, 'offering' | 'wallet' | 'address' | 'signatureHash'>;

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
  const { _id: txHash, wallet: payer, payee, asset, chain, amountMicros, settledAt, ref } = doc;
  return { payer, payee, asset, chain, amountMicros: BigInt(amountMicros.toString()), txHash, settledAt, ref };
}
