import { randomUUID } from 'node:crypto';
import { type Collection, type Db, Long } from 'mongodb';
import type { Address, Hash, Hex } from 'viem';
import { type CollectionIndexes, isDuplicateKey } from '../../platform/mongo.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import type { PaymentPayload } from './protocol/payment-payload.ts';
import type { PaymentRequirements } from './protocol/payment-quote.ts';

/**
 * OPEN: the answer is being made. PREPARED: it is written down, the payment may be on its way. SETTLED: paid, and in the ledger.
 * A claim that fails before the payment was sent is deleted, and the payment can be used again; later only once it can no longer land.
 */
export type ClaimState = 'OPEN' | 'PREPARED' | 'SETTLED';

export interface ClaimSettlement {
  txHash: Hash;
  /** Block time. */
  at: Date;
}

/** What one signed authorization is used for: `_id` is `<chain>:<asset>:<payer>:<nonce>`, in lower case. */
export interface ClaimDoc {
  _id: string;
  state: ClaimState;
  /** Who works on it, and until when that is believed, by the database's clock. */
  holder: string;
  heldUntil: Date;
  payer: Address;
  nonce: Hex;
  /** Of authorization and signature. */
  digest: string;
  /** The client's own id for the payment; absent where it sent none. */
  paymentId?: string;
  /** The same, of a payment that was refused: the payer may have used it for another one since. */
  formerPaymentId?: string;
  /** Where the request came from, as the limits count it. */
  address: string;
  offering: string;
  /** Of offering and input: another question is another purchase. */
  question: string;
  resource: string;
  ref: string | null;
  payload: PaymentPayload;
  requirements: PaymentRequirements;
  amountMicros: Long | number;
  /** Block before which the payment was not known to anybody but its payer. */
  sinceBlock: number;
  openedAt: Date;
  /** When a sweep last looked at it; before the first when it was opened, so that each has its turn. */
  sweptAt: Date;
  /** JSON of the answer; null while it is being made. */
  answer: string | null;
  forecastId: string | null;
  attestationUid: Hash | null;
  settlement: ClaimSettlement | null;
  receipt: SignedReceipt | null;
  /** Of a settled one: until then the answer can be had again. */
  keptUntil: Date | null;
}

export type NewClaim = Pick<
  ClaimDoc,
  | '_id'
  | 'payer'
  | 'nonce'
  | 'digest'
  | 'address'
  | 'offering'
  | 'question'
  | 'resource'
  | 'ref'
  | 'payload'
  | 'requirements'
  | 'sinceBlock'
> & { paymentId: string | null; amountMicros: bigint; openedAt: Date };

/** What an authorization is known by. */
export function buildClaimId({ chainId, asset, payer, nonce }: { chainId: number; asset: Address; payer: Address; nonce: Hex }): string {
  return `${chainId}:${asset}:${payer}:${nonce}`.toLowerCase();
}

const COLLECTION = 'x402_payments';
const PAYMENT_KEY = { payer: 1, paymentId: 1 } as const;
const SWEEP_KEY = { state: 1, sweptAt: 1 } as const;
const TX_KEY = { 'settlement.txHash': 1 } as const;

export const X402_INDEXES = [
  {
    collection: COLLECTION,
    indexes: [
      { key: PAYMENT_KEY, unique: true, partialFilterExpression: { paymentId: { $exists: true } } },
      { key: TX_KEY, sparse: true },
      { key: SWEEP_KEY },
      { key: { keptUntil: 1 } },
    ],
  },
] as const satisfies CollectionIndexes[];

/** So long without a sign of life a holder is taken for dead; measured by the database's clock alone. */
export const CLAIM_LEASE_MS = 15_000;

const MAX_CLAIMS_PER_SWEEP = 100;

const LEASE_EXPIRY = { $add: ['$$NOW', CLAIM_LEASE_MS] };
const IS_LEASE_EXPIRED = { $lte: ['$heldUntil', '$$NOW'] };

/** Uses of authorizations, each once, over all processes. */
export class PaymentClaimStore {
  readonly #claims: Collection<ClaimDoc>;

  constructor(db: Db) {
    this.#claims = db.collection(COLLECTION);
  }

  find(id: string): Promise<ClaimDoc | null> {
    return this.#claims.findOne({ _id: id });
  }

  /** The payment that a payer gave this id. */
  findByPaymentId(payer: Address, paymentId: string): Promise<ClaimDoc | null> {
    return this.#claims.findOne({ payer, paymentId }, { hint: PAYMENT_KEY });
  }

  findSettled(txHash: Hash, payer: Address): Promise<ClaimDoc | null> {
    return this.#claims.findOne({ 'settlement.txHash': txHash, payer, state: 'SETTLED' }, { hint: TX_KEY });
  }

  /** Null when the authorization, or the payer's id, is claimed already. */
  async open({ paymentId, amountMicros, ...claim }: NewClaim): Promise<ClaimDoc | null> {
    const holder = randomUUID();
    const doc: ClaimDoc = {
      ...claim,
      ...(paymentId === null ? {} : { paymentId }),
      amountMicros: Long.fromBigInt(amountMicros),
      state: 'OPEN',
      holder,
      heldUntil: new Date(0),
      ...{
        answer: null,
        forecastId: null,
        attestationUid: null,
        settlement: null,
        receipt: null,
        keptUntil: null,
        sweptAt: claim.openedAt,
      },
    };
    try {
      await this.#claims.insertOne(doc);
    } catch (error) {
      if (isDuplicateKey(error)) return null;
      throw error;
    }
    // Held from here on by the database's clock, unless somebody was faster.
    return this.acquireLease(doc);
  }

  /** Takes up a claim that nobody works on; null when somebody does, or it is gone or settled. */
  acquireLease({ _id }: Pick<ClaimDoc, '_id'>): Promise<ClaimDoc | null> {
    return this.#claims.findOneAndUpdate(
      { _id, state: { $in: ['OPEN', 'PREPARED'] }, $expr: IS_LEASE_EXPIRED },
      [{ $set: { holder: randomUUID(), heldUntil: LEASE_EXPIRY } }],
      { returnDocument: 'after' },
    );
  }

  /** A sign of life. */
  async heartbeat({ _id, holder }: ClaimDoc): Promise<void> {
    await this.#claims.updateOne({ _id, holder }, [{ $set: { heldUntil: LEASE_EXPIRY } }]);
  }

  /** Writes the answer down, before the payment is sent. Null when the claim is no longer the holder's. */
  prepare(claim: ClaimDoc, answer: Pick<ClaimDoc, 'answer' | 'forecastId' | 'attestationUid'>): Promise<ClaimDoc | null> {
    return this.#claims.findOneAndUpdate(
      { _id: claim._id, holder: claim.holder, state: 'OPEN' },
      [{ $set: { ...toLiterals(answer), state: 'PREPARED', heldUntil: LEASE_EXPIRY } }],
      { returnDocument: 'after' },
    );
  }

  /** The money has arrived. Said once: whoever settles later finds what was said first. */
  async settle({ _id }: ClaimDoc, settled: Pick<ClaimDoc, 'settlement' | 'receipt' | 'keptUntil'>): Promise<ClaimDoc> {
    await this.#claims.updateOne({ _id, state: 'PREPARED' }, { $set: { ...settled, state: 'SETTLED' } });
    return (await this.find(_id)) as ClaimDoc;
  }

  /** No money has moved, and none will for this: the payment is free again. */
  async discard({ _id, holder }: ClaimDoc): Promise<void> {
    await this.#claims.deleteOne({ _id, holder, state: { $ne: 'SETTLED' } });
  }

  /**
   * It is not known what becomes of the payment: the next one who asks takes it up. With `forgetId` the payer may use his id for
   * another payment.
   */
  async releaseLease({ _id, holder, paymentId }: ClaimDoc, { forgetId = false } = {}): Promise<void> {
    const free = { heldUntil: new Date(0), ...(forgetId && paymentId !== undefined ? { formerPaymentId: paymentId } : {}) };
    await this.#claims.updateOne({ _id, holder }, { $set: free, ...(forgetId ? { $unset: { paymentId: true as const } } : {}) });
  }

  /** What other payments of a payer, on which a process works at this moment, will take: smallest units. */
  async sumInFlight({ _id, payer }: ClaimDoc): Promise<bigint> {
    const query = {
      state: { $in: ['OPEN', 'PREPARED'] satisfies ClaimState[] },
      payer,
      _id: { $ne: _id },
      $expr: { $not: IS_LEASE_EXPIRED },
    };
    const others = await this.#claims.find(query, { hint: SWEEP_KEY, projection: { amountMicros: 1 } }).toArray();
    return others.reduce((sum, { amountMicros }) => sum + BigInt(amountMicros.toString()), 0n);
  }

  /** Claims that nobody works on, of processes that died or whose payment was not known to have landed: longest not looked at first. */
  async listAbandoned(): Promise<ClaimDoc[]> {
    const open = this.#claims.find({ state: { $in: ['OPEN', 'PREPARED'] }, $expr: IS_LEASE_EXPIRED }, { hint: SWEEP_KEY });
    return open.sort({ sweptAt: 1 }).limit(MAX_CLAIMS_PER_SWEEP).toArray();
  }

  /** Looked at: the others come first next time. */
  async markSwept({ _id }: ClaimDoc): Promise<void> {
    await this.#claims.updateOne({ _id }, { $currentDate: { sweptAt: true } });
  }

  async purge(now: Date): Promise<void> {
    await this.#claims.deleteMany({ keptUntil: { $lte: now } });
  }
}

/** Values that an update by expressions takes as they are. */
function toLiterals<T extends object>(values: T): Record<string, { $literal: unknown }> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { $literal: value }]));
}
