import { type Collection, type Db, Long } from 'mongodb';
import type { Address, Hash } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import { type Day, toDay } from '../../forecast/day.ts';
import { createCache } from '../../platform/cache.ts';
import { OracleError } from '../../platform/errors.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import type { Channel } from '../channels.ts';
import { buildCauseKey, type SettledPayment, validatePayment } from './payment.ts';

/** A settled payment; `_id` is its cause key. Addresses and hashes in lower case. */
export interface PaymentDoc extends Omit<SettledPayment, 'cause' | 'amountMicros'> {
  _id: string;
  /** The driver returns a number where that is exact. */
  amountMicros: Long | number;
  /** UTC date of the settlement. */
  day: Day;
  /** Set for plain transfers, which pay once; a transaction may carry several authorizations or jobs, which have their own keys. */
  soleTxHash?: Hash;
}

export const COMMERCE_INDEXES = [
  {
    collection: 'payments',
    indexes: [
      { key: { soleTxHash: 1 }, unique: true, sparse: true },
      { key: { day: 1 } },
      { key: { ref: 1 } },
      { key: { txHash: 1 } },
      { key: { payer: 1, settledAt: 1 } },
    ],
  },
];

const MAX_CACHED_FIGURES = 64;

export class Ledger {
  readonly payments: Collection<PaymentDoc>;
  readonly #figures = createCache<object>('ledger-figures', MAX_CACHED_FIGURES);

  constructor(db: Db) {
    this.payments = db.collection('payments');
  }

  /** Figures of all payments: computed once per new payment by each process, since payments are never changed. */
  async readFigures<Figures extends object>(
    name: string,
    compute: (payments: Collection<PaymentDoc>) => Promise<Figures>,
  ): Promise<Figures> {
    const count = await this.payments.estimatedDocumentCount();
    return (await this.#figures.get(`${name} ${count}`, () => compute(this.payments))) as Figures;
  }

  /** The first payment of a payer in a transaction, in the order of their causes; null without one. */
  findByTransaction(txHash: Hash, payer: Address): Promise<PaymentDoc | null> {
    const filter = { txHash: txHash.toLowerCase() as Hash, payer: toLowerCaseAddress(payer) };
    return this.payments.findOne(filter, { sort: { _id: 1 }, hint: { txHash: 1 } });
  }

  /** Payments of a wallet that settled up to a time (default: all), through a channel (default: any), counted up to `max`. */
  countPayments(payer: Address, { through, channel, max }: { through?: Date; channel?: Channel; max: number }): Promise<number> {
    const filter = {
      payer: toLowerCaseAddress(payer),
      ...(through && { settledAt: { $lte: through } }),
      ...(channel && { channel }),
    };
    return this.payments.countDocuments(filter, { limit: max, hint: { payer: 1, settledAt: 1 } });
  }

  /** Idempotent; returns whether the payment was new. @throws OracleError INPUT_INVALID; CONFLICT when it has paid for something else */
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
