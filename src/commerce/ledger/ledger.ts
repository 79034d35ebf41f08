import { type Collection, type Db, Long } from 'mongodb';
import type { Address, Hash } from 'viem';
import { type Day, toDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import type { Channel } from '../channels.ts';
import { buildCauseKey, type SettledPayment, validatePayment } from './payment.ts';

/** A settled payment; `_id` is its cause key. Addresses and hashes in lower case. */
export interface PaymentDoc {
  _id: string;
  channel: Channel;
  offering: string;
  /** The driver returns a number where that is exact. */
  amountMicros: Long | number;
  asset: Address;
  payer: Address;
  payee: Address;
  /** Requested resource; null when the offering identifies it. */
  resource: string | null;
  ref: string | null;
  settledAt: Date;
  /** UTC date of the settlement. */
  day: Day;
  txHash: Hash;
  /**
   * Set for plain transfers, whose transaction pays for one purchase only. A transaction may carry several authorizations or complete
   * several jobs, which have their own keys; a purchase rejects a transaction with an authorization.
   */
  soleTxHash?: Hash;
}

export const COMMERCE_INDEXES = [
  {
    collection: 'payments',
    indexes: [{ key: { soleTxHash: 1 }, unique: true, sparse: true }, { key: { day: 1 } }, { key: { ref: 1 } }],
  },
];

/** Append-only ledger of settled payments. */
export class Ledger {
  readonly payments: Collection<PaymentDoc>;

  constructor(db: Db) {
    this.payments = db.collection('payments');
  }

  /**
   * Records a settled payment; idempotent. Returns whether it was new.
   * @throws OracleError INPUT_INVALID for an invalid payment, CONFLICT when its cause or transaction has paid for something else.
   */
  async record(payment: SettledPayment): Promise<boolean> {
    const doc = toPaymentDoc(validatePayment(payment));
    try {
      await this.payments.insertOne(doc);
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const known = await this.payments.findOne({ _id: doc._id });
      if (known !== null && isSamePayment(known, doc)) return false;
      throw new OracleError('CONFLICT', 'This payment was used before, for something else', {
        field: 'txHash',
        suggestedAction: 'Pay with a transaction of its own.',
        cause: error,
      });
    }
  }
}

function toPaymentDoc({ cause, ...payment }: SettledPayment): PaymentDoc {
  const { txHash, settledAt, amountMicros } = payment;
  return {
    _id: buildCauseKey({ cause, ...payment }),
    ...payment,
    amountMicros: Long.fromBigInt(amountMicros),
    day: toDay(settledAt.getTime()),
    ...(cause.kind === 'transfer' ? { soleTxHash: txHash } : {}),
  };
}

function isSamePayment(known: PaymentDoc, doc: PaymentDoc): boolean {
  const facts = ({ channel, offering, amountMicros, asset, payer, payee, txHash }: PaymentDoc) =>
    [channel, offering, amountMicros, asset, payer, payee, txHash].join(' ');
  return facts(known) === facts(doc);
}
