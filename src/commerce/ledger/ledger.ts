import { type Collection, type Db, Long } from 'mongodb';
import type { Address, Hash } from 'viem';
import { type Day, toDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import type { Channel } from '../channels.ts';
import { buildCauseKey, type SettledPayment, validatePayment } from './payment.ts';

/** A settled payment as it is kept. `_id` is its cause. Addresses and hashes in lower case. */
export interface PaymentDoc {
  _id: string;
  channel: Channel;
  offering: string;
  /** Read back as a number wherever one holds it exactly. */
  amountMicros: Long | number;
  asset: Address;
  payer: Address;
  payee: Address;
  /** What was asked for; null where nothing says more than the offering. */
  resource: string | null;
  ref: string | null;
  settledAt: Date;
  /** UTC date of the settlement. */
  day: Day;
  txHash: Hash;
  /**
   * The same hash of a transfer, which pays for one thing. One transaction may carry several authorizations, or complete several jobs:
   * those are known by their own keys, and a purchase takes no transaction that carries an authorization.
   */
  soleTxHash?: Hash;
}

export const COMMERCE_INDEXES = [
  {
    collection: 'payments',
    indexes: [{ key: { soleTxHash: 1 }, unique: true, sparse: true }, { key: { day: 1 } }, { key: { ref: 1 } }],
  },
];

/** The settled payments: nothing else counts as money. Written once each, never changed. */
export class Ledger {
  readonly payments: Collection<PaymentDoc>;

  constructor(db: Db) {
    this.payments = db.collection('payments');
  }

  /**
   * Writes a settled payment down, unless it is there already. Tells whether it was new.
   * @throws OracleError INPUT_INVALID for what cannot be a payment, CONFLICT when its cause or transaction has paid for something else.
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
