import { type Collection, type Db, type Document, Long } from 'mongodb';
import type { Address, Hash, Hex } from 'viem';
import { toLowerCaseAddress } from '../chain/addresses.ts';
import { type Chain, readBlockDepth } from '../chain/client.ts';
import { findFirstBlockSince, findReceipt } from '../chain/rpc.ts';
import { type MinedBlock, toMinedBlock, watchCanonical } from '../chain/wallet.ts';
import { OracleError } from '../errors.ts';
import { DAY_MS, type Day, toDay } from '../forecast/day.ts';
import { createCache } from '../platform/concurrency.ts';
import type { Log } from '../platform/log.ts';
import { ignoreDuplicate, isDatabaseUnreachable, isDuplicateKey } from '../platform/mongo.ts';
import { repeatIfUncertain } from '../platform/retry.ts';
import { CHANNELS, type Channel, findOffering, OFFERINGS } from './offerings.ts';
import { isConfirmedSettlement, readSettlementStatus } from './x402/settlement.ts';

/** A settled payment; `_id` is its cause key. Addresses and hashes in lower case. */
export interface PaymentDoc extends Omit<SettledPayment, 'cause' | 'amountMicros'> {
  _id: string;
  /** The driver returns a number where that is exact. */
  amountMicros: Long | number;
  /** UTC date of the settlement. */
  day: Day;
  /** Its block is not final yet. */
  isWatched?: true;
  /** Set for plain transfers, which pay once; a transaction may carry several authorizations or jobs, which have their own keys. */
  soleTxHash?: Hash;
}

/** Where a payment is on chain. */
type PaymentPlace = Pick<PaymentDoc, 'txHash' | 'settledAt'> & { block: MinedBlock };

/** A payment that a reorganisation took off the chain, kept in case it comes back. */
type StruckPayment = PaymentDoc & { struckAt: Date };

/** Transactions come back within hours, or never: their nonce or their authorization is used otherwise. */
const STRUCK_DAYS = 7;

export const COMMERCE_INDEXES = [
  {
    collection: 'payments',
    indexes: [
      { key: { soleTxHash: 1 }, unique: true, sparse: true },
      { key: { day: 1 } },
      { key: { ref: 1 } },
      { key: { txHash: 1 } },
      { key: { payer: 1, settledAt: 1 } },
      { key: { isWatched: 1, 'block.number': -1 }, sparse: true },
    ],
  },
];

interface RevisionDoc {
  _id: string;
  revision?: number;
}

/** A counter in the database that advances after every write that it stands for: what was computed at the current one is up to date. */
class Revision {
  readonly #collection: Collection<RevisionDoc>;
  readonly #_id: string;
  /** A write may have changed what the counter stands for, and the counter could not be advanced. */
  #isBehind = false;

  constructor(db: Db, { collection, _id }: { collection: string; _id: string }) {
    this.#collection = db.collection(collection);
    this.#_id = _id;
  }

  async read(): Promise<number> {
    if (this.#isBehind) await this.advance();
    return (await this.#collection.findOne({ _id: this.#_id }))?.revision ?? 0;
  }

  async advance(): Promise<void> {
    this.#isBehind = true;
    // Twice is once too often at most, which costs a computation.
    await repeatIfUncertain(() => this.#collection.updateOne({ _id: this.#_id }, { $inc: { revision: 1 } }, { upsert: true }));
    this.#isBehind = false;
  }

  /** Also after a write whose reply was lost: its repetition may find it done, and would not advance. */
  async advanceAfter<T>(write: Promise<T>): Promise<T> {
    try {
      const result = await write;
      await this.advance();
      return result;
    } catch (error) {
      if (isDatabaseUnreachable(error)) this.#isBehind = true;
      throw error;
    }
  }
}

const MAX_CACHED_FIGURES = 64;

export class Ledger {
  readonly payments: Collection<PaymentDoc>;
  readonly #struck: Collection<StruckPayment>;
  /** Advances with every change of a booked payment. */
  readonly #revision: Revision;
  readonly #figures = createCache<object>('ledger-figures', MAX_CACHED_FIGURES);

  constructor(db: Db) {
    this.payments = db.collection('payments');
    this.#struck = db.collection('struck_payments');
    this.#revision = new Revision(db, { collection: 'ledger_meta', _id: 'revision' });
  }

  /** Figures of all payments: computed once per new or changed payment by each process. */
  async readFigures<Figures extends object>(
    name: string,
    compute: (payments: Collection<PaymentDoc>) => Promise<Figures>,
  ): Promise<Figures> {
    const [count, revision] = await Promise.all([this.payments.estimatedDocumentCount(), this.#revision.read()]);
    return (await this.#figures.get(`${name} ${count} ${revision}`, () => compute(this.payments))) as Figures;
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

  /** Payments whose block is not final, those of the highest block first. */
  listWatched(): AsyncIterable<PaymentDoc> {
    return this.payments.find({ isWatched: true }, { batchSize: 10 }).sort({ 'block.number': -1 });
  }

  async place({ _id, settledAt: before, txHash: known }: PaymentDoc, place: PaymentPlace): Promise<void> {
    const set = toPlaceFields(place);
    await this.payments.updateOne({ _id }, { $set: set });
    if (set.txHash !== known || place.settledAt.getTime() !== before.getTime()) await this.#revision.advance();
  }

  /** Ends the watch of payments up to a block that is final. */
  async settle(throughBlock: number): Promise<void> {
    await this.payments.updateMany({ isWatched: true, 'block.number': { $lte: throughBlock } }, { $unset: { isWatched: true } });
  }

  /** Takes a payment out of the ledger: a crash in between leaves it in both places, and it is struck again. */
  async strike(payment: PaymentDoc, at: Date): Promise<void> {
    await this.#struck.insertOne({ ...payment, struckAt: at }).catch(ignoreDuplicate);
    await this.#revision.advanceAfter(this.payments.deleteOne({ _id: payment._id }));
  }

  listStruck(now: Date): Promise<StruckPayment[]> {
    return this.#struck.find({ struckAt: { $gt: new Date(now.getTime() - STRUCK_DAYS * DAY_MS) } }).toArray();
  }

  async restore({ struckAt: _, ...payment }: StruckPayment, place: PaymentPlace): Promise<void> {
    const doc = { ...payment, ...toPlaceFields(place), isWatched: true as const };
    await this.#revision.advanceAfter(this.payments.insertOne(doc).catch(ignoreDuplicate));
    await this.#struck.deleteOne({ _id: payment._id });
  }

  /** Idempotent; returns whether the payment was new. @throws OracleError INPUT_INVALID; CONFLICT when it has paid for something else */
  async record(payment: SettledPayment): Promise<boolean> {
    const doc = toPaymentDoc(payment);
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

function toPlaceFields({ block, settledAt, txHash }: PaymentPlace) {
  return { block, settledAt, day: toDay(settledAt.getTime()), txHash: txHash.toLowerCase() as Hash };
}

function isSamePayment(known: PaymentDoc, doc: PaymentDoc): boolean {
  const facts = ({ channel, offering, amountMicros, asset, payer, payee, txHash }: PaymentDoc) =>
    [channel, offering, amountMicros, asset, payer, payee, txHash].join(' ');
  return facts(known) === facts(doc);
}

/** Single-use source of a payment: a transfer, an EIP-3009 authorization, or a job of a contract. */
export type PaymentCause = { kind: 'transfer' } | { kind: 'authorization'; nonce: Hex } | { kind: 'job'; contract: Address; jobId: bigint };

export interface SettledPayment {
  cause: PaymentCause;
  channel: Channel;
  offering: string;
  amountMicros: bigint;
  asset: Address;
  payer: Address;
  payee: Address;
  /** Requested resource, e.g. a URL with its query; null when the offering identifies it. Stored up to 512 characters. */
  resource: string | null;
  /** Referral code, case-insensitive, or null. */
  ref: string | null;
  settledAt: Date;
  txHash: Hash;
  /** Of the transaction, which is watched until the block is final; unset for one that nobody has read. */
  block?: MinedBlock | undefined;
}

/** Keeps sums of payments within 64 bits. */
const MAX_PAYMENT_MICROS = 10n ** 15n;
const MAX_RESOURCE_CHARS = 512;

export function buildCauseKey({ cause, payer, txHash }: Pick<SettledPayment, 'cause' | 'payer' | 'txHash'>): string {
  if (cause.kind === 'transfer') return `transfer:${txHash.toLowerCase()}`;
  if (cause.kind === 'authorization') return `authorization:${payer.toLowerCase()}:${cause.nonce.toLowerCase()}`;
  return `job:${cause.contract.toLowerCase()}:${cause.jobId}`;
}

/** @throws OracleError INPUT_INVALID */
export function parseCauseKey(key: string): PaymentCause {
  const [kind, first, second] = key.split(':');
  if (kind === 'transfer') return { kind };
  if (kind === 'authorization' && second !== undefined) return { kind, nonce: second as Hex };
  if (kind === 'job' && second !== undefined && /^\d+$/.test(second)) return { kind, contract: first as Address, jobId: BigInt(second) };
  throw invalidPaymentField('cause', 'is none that the ledger knows');
}

/** Validates, and converts hex to lower case. @throws OracleError INPUT_INVALID naming the field */
function toPaymentDoc(payment: SettledPayment): PaymentDoc {
  const { cause, channel, offering, amountMicros, resource, ref, settledAt, block } = payment;
  if (findOffering(channel, offering) === null) throw invalidPaymentField('offering', 'is not sold through this channel');
  if (amountMicros <= 0n || amountMicros > MAX_PAYMENT_MICROS)
    throw invalidPaymentField('amountMicros', `must be from 1 to ${MAX_PAYMENT_MICROS}`);
  if (Number.isNaN(settledAt.getTime())) throw invalidPaymentField('settledAt', 'must be a time');
  const asset = parseHex('asset', payment.asset, 40);
  const payer = parseHex('payer', payment.payer, 40);
  const payee = parseHex('payee', payment.payee, 40);
  const txHash = parseHex('txHash', payment.txHash, 64);
  return {
    _id: buildCauseKey({ cause, payer, txHash }),
    channel,
    offering,
    amountMicros: Long.fromBigInt(amountMicros),
    settledAt,
    asset,
    payer,
    payee,
    txHash,
    resource: resource === null ? null : resource.slice(0, MAX_RESOURCE_CHARS),
    ref: ref === null ? null : parseRefCode(ref),
    ...(block && { block }),
    day: toDay(settledAt.getTime()),
    ...(block && { isWatched: true as const }),
    ...(cause.kind === 'transfer' ? { soleTxHash: txHash } : {}),
  };
}

function parseHex(field: string, text: string, digits: number): Hex {
  if (!new RegExp(`^0x[0-9a-f]{${digits}}$`, 'i').test(text)) throw invalidPaymentField(field, `must be 0x and ${digits} hex characters`);
  return text.toLowerCase() as Hex;
}

function invalidPaymentField(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `Payment: ${field} ${problem}`, { field });
}

/** Case-insensitive, stored in lower case. Without regex flags, which JSON Schema cannot express. */
export const REF_CODE_PATTERN = /^[a-zA-Z0-9][a-zA-Z0-9_-]{2,31}$/;
export const REF_CODE_RULE = '3 to 32 letters, digits, _ or -, of which the first is a letter or digit';

/** Converts a code to lower case. @throws OracleError INPUT_INVALID, without quoting the input */
export function parseRefCode(text: string): string {
  if (REF_CODE_PATTERN.test(text)) return text.toLowerCase();
  throw new OracleError('INPUT_INVALID', `A ref code has ${REF_CODE_RULE}`, { field: 'ref' });
}

const TOTALS_SUMS: Document = { payments: { $sum: '$payments' }, amountMicros: { $sum: '$amountMicros' } };

/** Referral codes by settled amount, ties by code. */
export function listTopReferrals(ledger: Ledger, limit: number) {
  return ledger.readFigures(`referrals:${limit}`, async (payments) => {
    const ranking = [{ $sort: { amountMicros: -1, _id: 1 } }, { $limit: limit }];
    const found = await payments.aggregate([...buildReferralPipeline({ ref: { $ne: null } }), ...ranking]).toArray();
    return found.map(toReferralTotals);
  });
}

/** Totals of one code in lower case; null without a settled payment. */
export async function findReferralTotals({ payments }: Ledger, ref: string) {
  const [found] = await payments.aggregate(buildReferralPipeline({ ref })).toArray();
  return found === undefined ? null : toReferralTotals(found);
}

export function readPartnerTotals(ledger: Ledger) {
  return ledger.readFigures('partners', async (payments) => {
    const [referred] = await payments
      .aggregate([
        { $match: { ref: { $ne: null } } },
        { $group: { _id: '$ref', ...TOTALS_ACCUMULATORS } },
        { $group: { _id: null, partners: { $sum: 1 }, ...TOTALS_SUMS } },
      ])
      .toArray();
    // Read last: a payment settled meanwhile must not make the part larger than the total.
    const [total] = await payments.aggregate([{ $group: { _id: null, ...TOTALS_ACCUMULATORS } }]).toArray();
    const partners: number = referred?.partners ?? 0;
    return { partners, referred: toPaymentTotals(referred), total: toPaymentTotals(total) };
  });
}

/** Groups by code with its number of payers; by payer first, so that no list of payers is built. */
function buildReferralPipeline(match: Document): Document[] {
  const last = { $max: '$settledAt' };
  return [
    { $match: match },
    { $group: { _id: { ref: '$ref', payer: '$payer' }, ...TOTALS_ACCUMULATORS, last } },
    { $group: { _id: '$_id.ref', payers: { $sum: 1 }, ...TOTALS_SUMS, last: { $max: '$last' } } },
  ];
}

/** Of the payers only their number: their addresses are never exposed. */
function toReferralTotals({ _id, payers, last, ...group }: Document) {
  return { ref: _id as string, payers: payers as number, lastSettledAt: last as Date | null, ...toPaymentTotals(group) };
}

export interface PaymentTotals {
  payments: number;
  amountMicros: bigint;
}

export type Revenue = Awaited<ReturnType<typeof aggregateRevenue>>;

export const REVENUE_DAYS = 30;
const TOTALS_ACCUMULATORS: Document = { payments: { $sum: 1 }, amountMicros: { $sum: '$amountMicros' } };

/** Result of a `$group` stage with `TOTALS_ACCUMULATORS`; zeros without a group. */
function toPaymentTotals(group: Document | undefined): PaymentTotals {
  const sum: Long | number = group?.amountMicros ?? 0;
  return { payments: group?.payments ?? 0, amountMicros: BigInt(sum.toString()) };
}

export function readRevenue(ledger: Ledger, now: Date): Promise<Revenue> {
  const today = toDay(now.getTime());
  return ledger.readFigures(`revenue:${today}`, (payments) => aggregateRevenue(payments, today));
}

async function aggregateRevenue(payments: Collection<PaymentDoc>, today: Day) {
  const byOffering = { _id: { channel: '$channel', offering: '$offering' }, ...TOTALS_ACCUMULATORS };
  const byDay = { _id: '$day', ...TOTALS_ACCUMULATORS };
  const aggregate = (...stages: Document[]) => payments.aggregate(stages).toArray();
  const [groups, days, [counted]] = await Promise.all([
    aggregate({ $group: { ...byOffering, first: { $min: '$settledAt' }, last: { $max: '$settledAt' } } }),
    aggregate({ $match: { day: { $gt: today - REVENUE_DAYS, $lte: today } } }, { $group: byDay }),
    aggregate({ $group: { _id: '$payer' } }, { $count: 'payers' }),
  ]);
  const sold = groups.map(({ _id, ...group }) => ({
    channel: _id.channel as Channel,
    offering: _id.offering as string,
    ...toPaymentTotals(group),
  }));
  const times = groups.flatMap(({ first, last }) => [first.getTime(), last.getTime()]);
  return {
    total: sumTotals(sold),
    payers: (counted?.payers ?? 0) as number,
    firstSettledAt: times.length === 0 ? null : new Date(Math.min(...times)),
    lastSettledAt: times.length === 0 ? null : new Date(Math.max(...times)),
    byChannel: CHANNELS.map((channel) => ({ channel, ...sumTotals(sold.filter((one) => one.channel === channel)) })),
    byOffering: OFFERINGS.map(({ channel, name }) => ({
      channel,
      offering: name,
      ...sumTotals(sold.filter((one) => one.channel === channel && one.offering === name)),
    })),
    /** The last 30 UTC days up to today, oldest first. */
    byDay: Array.from({ length: REVENUE_DAYS }, (_, i) => {
      const day = today - REVENUE_DAYS + 1 + i;
      return { day, ...toPaymentTotals(days.find(({ _id }) => _id === day)) };
    }),
  };
}

function sumTotals(totals: readonly PaymentTotals[]): PaymentTotals {
  return {
    payments: totals.reduce((total, { payments }) => total + payments, 0),
    amountMicros: totals.reduce((total, { amountMicros }) => total + amountMicros, 0n),
  };
}

/** By which the search for an authorization that was used elsewhere begins before the block that it was in. */
const SEARCH_MARGIN_MS = 10 * 60_000;

/**
 * Looks after booked payments until their blocks are final: one that a reorganisation moved gets its new place, one that it took off the chain
 * leaves the ledger, and comes back with its transaction. What was delivered for it stays. @throws OracleError CHAIN_UNREACHABLE
 */
export async function followPayments({ chain, ledger, log, now }: { chain: Chain; ledger: Ledger; log: Log; now(): Date }): Promise<void> {
  const { lost, finalThrough } = await watchCanonical(chain, ledger.listWatched(), ({ block }) => block as MinedBlock);
  for (const payment of lost) {
    const place = await findPlace(chain, payment);
    if (place === 'nowhere') {
      await ledger.strike(payment, now());
      const { _id, txHash, channel, offering } = payment;
      log.error({ payment: _id, txHash, channel, offering }, 'a reorganisation took a booked payment off the chain: it left the ledger');
    } else if (place !== 'shallow') await ledger.place(payment, place);
  }
  for (const payment of await ledger.listStruck(now())) {
    const place = await findPlace(chain, payment);
    if (typeof place === 'string') continue;
    await ledger.restore(payment, place);
    log.info({ payment: payment._id, txHash: place.txHash }, 'a payment that a reorganisation took off the chain is on it again');
  }
  if (finalThrough >= 0) await ledger.settle(finalThrough);
}

/** `shallow`: in a block above the confirmation depth. */
type FoundPlace = PaymentPlace | 'shallow' | 'nowhere';

/** Its authorization may have been used by another transaction than before. */
async function findPlace(chain: Chain, payment: PaymentDoc): Promise<FoundPlace> {
  const own = await readPlace(chain, payment.txHash);
  const cause = parseCauseKey(payment._id);
  if (own !== 'nowhere' || cause.kind !== 'authorization') return own;
  const { payer, payee, asset, amountMicros, settledAt } = payment;
  const transfer = { from: payer, to: payee, value: BigInt(amountMicros.toString()), nonce: cause.nonce };
  // Of an authorization that is not used nothing else matters here.
  const authorization = { ...transfer, validAfter: 0n, validBefore: 0n };
  const since = await findFirstBlockSince(chain, new Date(settledAt.getTime() - SEARCH_MARGIN_MS));
  const found = await readSettlementStatus(chain, { asset }, { authorization, sinceBlock: Number(since) });
  if (found === 'shallow') return found;
  return isConfirmedSettlement(found) ? readPlace(chain, found.txHash) : 'nowhere';
}

async function readPlace(chain: Chain, txHash: PaymentDoc['txHash']): Promise<FoundPlace> {
  const receipt = await findReceipt(chain, txHash, 'Reading the receipt of a booked payment');
  if (!receipt?.blockHash || receipt.status !== 'success') return 'nowhere';
  const { settledAt } = await readBlockDepth(chain, receipt);
  return settledAt === null ? 'shallow' : { txHash, settledAt, block: toMinedBlock(receipt) };
}
