import { randomUUID } from 'node:crypto';
import { type Collection, type Db, Long } from 'mongodb';
import type { Address, Hash } from 'viem';
import { type CollectionIndexes, isDuplicateKey } from '../../platform/mongo.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import type { PurchasePayment } from './purchase.ts';

/** A transfer that was found to have paid for an offering, and what was delivered for it. Addresses and hashes in lower case. */
export interface PurchaseDoc {
  /** Hash of the transfer: it pays for one thing, once. */
  _id: Hash;
  offering: string;
  wallet: Address;
  payee: Address;
  asset: Address;
  chain: string;
  amountMicros: Long | number;
  settledAt: Date;
  ref: string | null;
  /** Where it was shown from first, as the limits count it: without a signature nobody else gets the delivery. */
  address: string;
  /** SHA-256 of the signature that was seen last; null while none was. Once there was one, each call needs one. */
  signatureHash: string | null;
  /** When somebody last began to compose the document, and who; absent before the first. */
  composingAt: Date;
  holder?: string;
  delivery: PurchaseDeliveryDoc | null;
  /** Until it is delivered. */
  isOpen?: true;
  /** When a sweep last looked at it; before the first when it was written down. */
  sweptAt: Date;
}

/** Delivered once, and the same for ever after. */
export interface PurchaseDeliveryDoc {
  /** RFC 8785 JSON of the document. */
  json: string;
  receipt: SignedReceipt;
  deliveredAt: Date;
}

/** No document takes longer to compose: after it the process that was at it is taken for dead. By the database's clock alone. */
export const PURCHASE_LEASE_MS = 30_000;

const NEVER = new Date(0);
const IS_LEASE_EXPIRED = { $expr: { $lte: ['$composingAt', { $subtract: ['$$NOW', PURCHASE_LEASE_MS] }] } };

export type NewPurchase = Omit<PurchasePayment, 'payer'> & Pick<PurchaseDoc, 'offering' | 'wallet' | 'address' | 'signatureHash'>;

/** A purchase that is being composed, and by whom. */
export interface PurchaseLease {
  txHash: Hash;
  holder: string;
}

const SWEEP_KEY = { isOpen: 1, sweptAt: 1 } as const;

export const PURCHASE_INDEXES = [
  { collection: 'purchases', indexes: [{ key: SWEEP_KEY, sparse: true }] },
] as const satisfies CollectionIndexes[];

/** Purchases, each known by its transaction. */
export class PurchaseStore {
  readonly #purchases: Collection<PurchaseDoc>;

  constructor(db: Db) {
    this.#purchases = db.collection('purchases');
  }

  find(txHash: Hash): Promise<PurchaseDoc | null> {
    return this.#purchases.findOne({ _id: txHash });
  }

  /** Writes down that a transfer has paid, unless it is known already; gives what stands. */
  async claim({ txHash, amountMicros, ...purchase }: NewPurchase): Promise<PurchaseDoc> {
    const amount = Long.fromBigInt(amountMicros);
    try {
      await this.#purchases.insertOne({
        ...purchase,
        _id: txHash,
        amountMicros: amount,
        composingAt: NEVER,
        delivery: null,
        isOpen: true,
        sweptAt: new Date(),
      });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    return (await this.find(txHash)) as PurchaseDoc;
  }

  /** Paid for, and not delivered yet: longest not looked at first. */
  listUndelivered(): Promise<PurchaseDoc[]> {
    return this.#purchases.find({ isOpen: true }, { hint: SWEEP_KEY }).sort({ sweptAt: 1 }).limit(100).toArray();
  }

  /** Looked at by a sweep: the others come first next time. */
  async markSwept(txHash: Hash): Promise<void> {
    await this.#purchases.updateOne({ _id: txHash }, { $currentDate: { sweptAt: true } });
  }

  /** From now on each call needs a signature. */
  async markSigned(txHash: Hash, signatureHash: string): Promise<void> {
    await this.#purchases.updateOne({ _id: txHash }, { $set: { signatureHash } });
  }

  /** Takes up the composing; null while somebody else is at it, or it is done. */
  async acquireLease(txHash: Hash): Promise<PurchaseLease | null> {
    const holder = randomUUID();
    const change = { $set: { holder }, $currentDate: { composingAt: true as const } };
    const held = await this.#purchases.updateOne({ _id: txHash, delivery: null, ...IS_LEASE_EXPIRED }, change);
    return held.modifiedCount === 1 ? { txHash, holder } : null;
  }

  /** The composing failed: the next one who asks takes it up. Nothing happens where somebody else has it by now. */
  async releaseLease({ txHash, holder }: PurchaseLease): Promise<void> {
    await this.#purchases.updateOne({ _id: txHash, delivery: null, holder }, { $set: { composingAt: NEVER } });
  }

  /** The holder's delivery stands; gives what does, which is none yet where somebody else has taken it up and is not done. */
  async saveDelivery({ txHash, holder }: PurchaseLease, delivery: PurchaseDeliveryDoc): Promise<PurchaseDoc> {
    await this.#purchases.updateOne({ _id: txHash, delivery: null, holder }, { $set: { delivery }, $unset: { isOpen: true } });
    return (await this.find(txHash)) as PurchaseDoc;
  }
}

/** The payment of a stored purchase. */
export function toPurchasePayment(doc: PurchaseDoc): PurchasePayment {
  const { _id: txHash, wallet: payer, payee, asset, chain, amountMicros, settledAt, ref } = doc;
  return { payer, payee, asset, chain, amountMicros: BigInt(amountMicros.toString()), txHash, settledAt, ref };
}
