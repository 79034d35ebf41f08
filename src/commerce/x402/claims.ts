import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Collection, type Db, Long } from 'mongodb';
import type { Address, Hash, Hex } from 'viem';
import { type ErrorCode, OracleError } from '../../errors.ts';
import { DAY_MS } from '../../forecast/day.ts';
import { type CollectionIndexes, isFirstWrite, toLiterals } from '../../platform/mongo.ts';
import { repeatIfUncertain, undoIfUncertain } from '../../platform/retry.ts';
import type { MerchantConfig } from '../offerings.ts';
import type { SignedReceipt, X402Receipt } from '../receipts.ts';
import type { Authorization, ParsedPayment, PaymentPayload, PaymentRequirements } from './terms.ts';

/**
 * What became of a payment that a client has sent, for counts. `accepted` includes repeated answers. `rejected`: the payment, or its use,
 * was at fault. `waiting`: gas is too expensive, or the answer waits for a step.
 */
const PAYMENT_OUTCOMES = ['accepted', 'rejected', 'waiting', 'unconfirmed', 'unreachable', 'failed'] as const;

export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

/** The transports over which single answers are sold. */
export const PAYMENT_INTERFACES = ['rest', 'mcp', 'a2a'] as const;

export type PaymentInterface = (typeof PAYMENT_INTERFACES)[number];

/** `terms`: a client without a payment was sent the requirements. `begun`: a payment was received. */
export const PAYMENT_STEPS = ['terms', 'begun', ...PAYMENT_OUTCOMES] as const;

export type PaymentStep = (typeof PAYMENT_STEPS)[number];

const BY_CODE: Partial<Record<ErrorCode, PaymentOutcome>> = {
  PAYMENT_REQUIRED: 'rejected',
  CONFLICT: 'rejected',
  RATE_LIMITED: 'rejected',
  INPUT_INVALID: 'rejected',
  STEP_WAITING: 'waiting',
  PRICE_UNAVAILABLE: 'waiting',
  TRANSACTION_UNCONFIRMED: 'unconfirmed',
  CHAIN_UNREACHABLE: 'unreachable',
  DATABASE_UNAVAILABLE: 'unreachable',
};

/** Reports the outcome of a sale, and passes its result or error on. */
export async function observeOutcome<T>(sale: Promise<T>, observe: (outcome: PaymentOutcome) => void): Promise<T> {
  try {
    const sold = await sale;
    observe('accepted');
    return sold;
  } catch (error) {
    observe((error instanceof OracleError && BY_CODE[error.code]) || 'failed');
    throw error;
  }
}

type ClaimSpace = Pick<MerchantConfig, 'chainId' | 'asset'>;

/** The claim on a payment, or the one that has its payment identifier. */
export async function findClaim(
  { claims, merchant }: { claims: PaymentClaimStore; merchant: ClaimSpace },
  { authorization, paymentId }: ParsedPayment,
): Promise<ClaimDoc | null> {
  const claim = await claims.find(buildClaimId(merchant, authorization));
  return claim ?? (paymentId === null ? null : claims.findByPaymentId(authorization.from, paymentId));
}

/**
 * OPEN: being verified and answered. PREPARED: the answer is stored, the payment may have been sent. SETTLED: paid and in the ledger. A failed claim is
 * deleted for another use: before the payment is sent, or once the authorization can no longer be mined.
 */
type ClaimState = 'OPEN' | 'PREPARED' | 'SETTLED';

/** A request's claim on an authorization: `_id` is `<chain>:<asset>:<payer>:<nonce>`, in lower case. */
interface NewClaim {
  _id: string;
  payer: Address;
  nonce: Hex;
  /** SHA-256 of authorization and signature. */
  digest: string;
  paymentId: string | null;
  address: string;
  offering: string;
  /** Request fingerprint: offering and input. */
  question: string;
  resource: string;
  ref: string | null;
  payload: PaymentPayload;
  requirements: PaymentRequirements;
  amountMicros: bigint;
  /** Block from which the authorization can have been used: before, only its payer knew it. */
  sinceBlock: number;
  openedAt: Date;
}

export interface ClaimDoc extends Omit<NewClaim, 'paymentId' | 'amountMicros'> {
  state: ClaimState;
  holder: string;
  heldUntil: Date;
  paymentId?: string;
  /** Identifier of a rejected payment, which the payer may have reused since. */
  formerPaymentId?: string;
  amountMicros: Long | number;
  /** Last sweep, for fairness; initially `openedAt`. */
  sweptAt: Date;
  /** Answer as JSON; null while OPEN. */
  answer: string | null;
  forecastId: string | null;
  attestationUid: Hash | null;
  settlement: { txHash: Hash; at: Date } | null;
  receipt: SignedReceipt | null;
  /** Null or unset until it is signed. */
  x402Receipt?: X402Receipt | null;
  keptUntil: Date | null;
}

/** `_id` of the claim on an authorization. */
export function buildClaimId({ chainId, asset }: ClaimSpace, { from, nonce }: Pick<Authorization, 'from' | 'nonce'>): string {
  return `${chainId}:${asset}:${from}:${nonce}`.toLowerCase();
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
    ],
  },
] as const satisfies CollectionIndexes[];

/** Lease without a heartbeat, after which its holder is considered crashed. Measured by the database's clock. */
export const CLAIM_LEASE_MS = 15_000;

const MAX_CLAIMS_PER_SWEEP = 100;
const LEASE_EXPIRY = { $add: ['$$NOW', CLAIM_LEASE_MS] };
/** Without a holder: a heartbeat or a preparation that the database gets late has no effect. */
const RELEASED = { heldUntil: new Date(0), holder: '' };
const IS_LEASE_EXPIRED = { $lte: ['$heldUntil', '$$NOW'] };

/** Single-use claims on authorizations, over all processes. */
export class PaymentClaimStore {
  readonly #claims: Collection<ClaimDoc>;

  constructor(db: Db) {
    this.#claims = db.collection(COLLECTION);
  }

  find(id: string): Promise<ClaimDoc | null> {
    return this.#claims.findOne({ _id: id });
  }

  /** When the oldest claim was opened that is neither settled nor released; null without one. */
  async findOldestOpen(): Promise<Date | null> {
    const open = { state: { $in: ['OPEN', 'PREPARED'] satisfies ClaimState[] } };
    const oldest = await this.#claims.findOne(open, { hint: SWEEP_KEY, sort: { openedAt: 1 }, projection: { openedAt: 1 } });
    return oldest?.openedAt ?? null;
  }

  findByPaymentId(payer: Address, paymentId: string): Promise<ClaimDoc | null> {
    return this.#claims.findOne({ payer, paymentId }, { hint: PAYMENT_KEY });
  }

  findSettled(txHash: Hash, payer: Address): Promise<ClaimDoc | null> {
    return this.#claims.findOne({ 'settlement.txHash': txHash, payer, state: 'SETTLED' }, { hint: TX_KEY });
  }

  /** Opens a claim with its lease; null when the authorization or the payer's payment identifier is already claimed. */
  async open({ _id, paymentId, amountMicros, ...claim }: NewClaim): Promise<ClaimDoc | null> {
    const holder = randomUUID();
    const fields = {
      ...claim,
      ...(paymentId === null ? {} : { paymentId }),
      amountMicros: Long.fromBigInt(amountMicros),
      state: 'OPEN',
      answer: null,
      forecastId: null,
      attestationUid: null,
      settlement: null,
      receipt: null,
      keptUntil: null,
      sweptAt: claim.openedAt,
    } as const;
    const update = [{ $set: { ...toLiterals(fields), holder, heldUntil: LEASE_EXPIRY } }];
    // The holder is new: the filter matches no other writer's claim, and a repeat by the driver changes nothing.
    const opening = isFirstWrite(this.#claims.updateOne({ _id, holder }, update, { upsert: true }));
    const isOpened = await undoIfUncertain(opening, () => this.releaseLease({ _id, holder }));
    // The stored expiry, by the database's clock, is the one that counts.
    return isOpened ? { _id, ...fields, holder, heldUntil: new Date(claim.openedAt.getTime() + CLAIM_LEASE_MS) } : null;
  }

  /** Acquires the lease; null while it is held, or when the claim is deleted or settled. */
  acquireLease({ _id }: Pick<ClaimDoc, '_id'>): Promise<ClaimDoc | null> {
    const holder = randomUUID();
    const acquired = this.#claims.findOneAndUpdate(
      { _id, state: { $in: ['OPEN', 'PREPARED'] }, $expr: IS_LEASE_EXPIRED },
      [{ $set: { holder, heldUntil: LEASE_EXPIRY } }],
      { returnDocument: 'after' },
    );
    return undoIfUncertain(acquired, () => this.releaseLease({ _id, holder }));
  }

  async heartbeat({ _id, holder }: ClaimDoc): Promise<void> {
    await this.#claims.updateOne({ _id, holder }, [{ $set: { heldUntil: LEASE_EXPIRY } }]);
  }

  /** Stores the answer before the payment is sent. Null when the lease is lost. */
  async prepare(claim: ClaimDoc, answer: Pick<ClaimDoc, 'answer' | 'forecastId' | 'attestationUid'>): Promise<ClaimDoc | null> {
    const { _id, holder } = claim;
    const update = [{ $set: { ...toLiterals(answer), state: 'PREPARED', heldUntil: LEASE_EXPIRY } }];
    const { matchedCount } = await this.#claims.updateOne({ _id, holder, state: 'OPEN' }, update);
    return matchedCount === 0 ? null : { ...claim, ...answer, state: 'PREPARED' };
  }

  /** Stores the settlement unless there is one, and returns the claim with the first one stored. */
  async settle(claim: ClaimDoc, settled: Pick<ClaimDoc, 'settlement' | 'receipt' | 'x402Receipt' | 'keptUntil'>): Promise<ClaimDoc> {
    const { _id } = claim;
    const change = { ...settled, state: 'SETTLED' as const };
    const { matchedCount } = await this.#claims.updateOne({ _id, state: 'PREPARED' }, { $set: change });
    return matchedCount === 0 ? ((await this.find(_id)) as ClaimDoc) : { ...claim, ...change };
  }

  /** Adds the x402 receipt of a settled claim that has none, and returns the claim with the first one stored. */
  async addX402Receipt(claim: ClaimDoc, x402Receipt: X402Receipt): Promise<ClaimDoc> {
    const { _id } = claim;
    const adding = () => this.#claims.updateOne({ _id, x402Receipt: null }, { $set: { x402Receipt } });
    const { matchedCount } = await repeatIfUncertain(adding);
    return matchedCount === 0 ? ((await this.find(_id)) ?? claim) : { ...claim, x402Receipt };
  }

  /** Deletes a claim whose payment has not moved money and never will for it, so that the payment can be used again. */
  async discard({ _id, holder }: ClaimDoc): Promise<void> {
    await repeatIfUncertain(() => this.#claims.deleteOne({ _id, holder, state: { $ne: 'SETTLED' } }));
  }

  /** Releases the lease of an unfinished claim: the next request or sweep continues it. */
  async releaseLease({ _id, holder }: Pick<ClaimDoc, '_id' | 'holder'>): Promise<void> {
    await repeatIfUncertain(() => this.#claims.updateOne({ _id, holder }, { $set: RELEASED }));
  }

  /** As `releaseLease`, and frees the payment identifier for another payment of the payer. */
  async releaseWithIdentifier({ _id, holder, paymentId }: ClaimDoc): Promise<void> {
    const former = paymentId === undefined ? {} : { formerPaymentId: paymentId };
    const update = { $set: { ...RELEASED, ...former }, $unset: { paymentId: true as const } };
    await repeatIfUncertain(() => this.#claims.updateOne({ _id, holder }, update));
  }

  /** Sum of the payer's other payments under a lease, in smallest units. */
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

  /** Unfinished claims without a lease, of crashed processes or with an unknown settlement status; least recently swept first. */
  async listAbandoned(): Promise<ClaimDoc[]> {
    const open = this.#claims.find({ state: { $in: ['OPEN', 'PREPARED'] }, $expr: IS_LEASE_EXPIRED }, { hint: SWEEP_KEY });
    return open.sort({ sweptAt: 1 }).limit(MAX_CLAIMS_PER_SWEEP).toArray();
  }

  async markSwept({ _id }: ClaimDoc): Promise<void> {
    await this.#claims.updateOne({ _id }, { $currentDate: { sweptAt: true } });
  }
}

interface FailedSettlementDoc extends Pick<ClaimDoc, '_id' | 'payer' | 'address'> {
  at: Date;
}

const FAILURES = 'x402_failed_settlements';

export const FAILED_SETTLEMENT_INDEXES = [
  { collection: FAILURES, indexes: [{ key: { payer: 1, at: -1 } }, { key: { address: 1, at: -1 } }] },
] as const satisfies CollectionIndexes[];

/** Within 24 hours. More for an address, since payers may share one. */
const MAX_FAILURES = { payer: 3, address: 20 } as const;

/** Failed settlements, over all processes: each has cost the work of an answer, and may have cost gas. */
export class FailedSettlementStore {
  readonly #failures: Collection<FailedSettlementDoc>;

  constructor(db: Db) {
    this.#failures = db.collection(FAILURES);
  }

  async record({ _id, payer, address }: ClaimDoc, at: Date): Promise<void> {
    await this.#failures.updateOne({ _id }, { $setOnInsert: { payer, address, at } }, { upsert: true });
  }

  async remove({ _id }: ClaimDoc): Promise<void> {
    await this.#failures.deleteOne({ _id });
  }

  /** @throws OracleError RATE_LIMITED for a payer or an address with too many failures, until the oldest that counts is a day old */
  async requireBelowLimit(client: Pick<ClaimDoc, 'payer' | 'address'>, now: Date): Promise<void> {
    const at = { $gt: new Date(now.getTime() - DAY_MS) };
    const findOldest = (subject: 'payer' | 'address') =>
      this.#failures.findOne({ [subject]: client[subject], at }, { sort: { at: -1 }, skip: MAX_FAILURES[subject] - 1 });
    const [ofPayer, ofAddress] = await Promise.all([findOldest('payer'), findOldest('address')]);
    if (ofPayer !== null) throw tooManyFailuresError('payer', ofPayer, now);
    if (ofAddress !== null) throw tooManyFailuresError('address', ofAddress, now);
  }
}

function tooManyFailuresError(subject: 'payer' | 'address', { at }: FailedSettlementDoc, now: Date): OracleError {
  const limit = MAX_FAILURES[subject];
  const until = new Date(at.getTime() + DAY_MS);
  return new OracleError('RATE_LIMITED', `${limit} payments of this ${subject} could not be settled within 24 hours`, {
    field: 'payment',
    suggestedAction: `Retry at ${until.toISOString()}${subject === 'payer' ? ', or pay from another wallet' : ''}.`,
    retryAfterSeconds: Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1_000)),
    details: { policy: `unsettled-${subject}`, limit, windowSeconds: DAY_MS / 1_000 },
  });
}

const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;
/** After it the lease may have expired, so the caller tries to acquire it. */
const MAX_WAIT_MS = 1_000;

/** Polls a claim under another process's lease until it is settled, deleted, released or under a new lease, for a second at most. @throws OracleError SHUTTING_DOWN */
export async function waitForClaimChange(readClaim: () => Promise<ClaimDoc | null>, before: ClaimDoc, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < deadline; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await sleepOrShutdown(pauseMs, signal);
    const claim = await readClaim();
    if (claim === null || claim.state === 'SETTLED' || claim.heldUntil.getTime() === 0 || claim.holder !== before.holder) return;
  }
}

export function paymentUnconfirmedError(cause?: unknown): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', 'The payment has been sent but is not confirmed yet', {
    suggestedAction: 'Repeat the request with the same payment: the answer is stored, and you are not charged twice.',
    retryAfterSeconds: 5,
    cause,
  });
}

/** Pauses a poll for a payment. @throws OracleError SHUTTING_DOWN when the signal aborts */
export async function sleepOrShutdown(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping; repeat the request with the same payment', { cause });
  }
}
