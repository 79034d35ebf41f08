import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import PQueue from 'p-queue';
import { type Address, bytesToHex, isAddressEqual, keccak256, maxUint256, stringToBytes } from 'viem';
import { z } from 'zod';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import { type Chain, type ConfirmedBlock, REORG_MARGIN_BLOCKS, readConfirmedBlock } from '../../chain/client.ts';
import { type OnChainJob, proposeBudget, readCodeHashes, readJob, readJobEvents, readJobPayment, submitJob } from '../../chain/erc8183.ts';
import { readBlockNumber } from '../../chain/rpc.ts';
import type { Wallet } from '../../chain/wallet.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../errors.ts';
import type { Log } from '../../platform/log.ts';
import { toDatabaseError } from '../../platform/mongo.ts';
import type { TrustedTime } from '../../platform/time.ts';
import { inEntry } from '../../platform/tracing.ts';
import { parseJsonOrNull } from '../../platform/validation.ts';
import type { Commerce } from '../commerce.ts';
import { type Ledger, REF_CODE_PATTERN, REF_CODE_RULE } from '../ledger.ts';
import { type ComposedDocument, findOffering, formatMoney, type MerchantConfig, OFFERINGS, type Offering } from '../offerings.ts';
import type { SignedReceipt, SignReceipt } from '../receipts.ts';
import { buildJobResource, type DeliverySlot, type JobDelivery, type JobDocWithoutText, type JobStore } from './job-store.ts';
import { type DirectJobFacts, findJobRejection, isDirectJob, isKnownEvaluator, type JobPolicy, MIN_DELIVERY_TIME_MS } from './jobs.ts';

export type JobService = ReturnType<typeof createJobService>;

type JobServiceDeps = Pick<JobDeps, 'contract' | 'policy' | 'store'> & { provider: Address; chain: Pick<Chain, 'client'> };

export function createJobService({ contract, provider, store, policy, chain }: JobServiceDeps) {
  return {
    contract,
    provider,
    policy,
    /** Null for another provider's job, or before its confirmation depth. */
    find: (jobId: bigint) => store.find(contract, jobId),
    /** Whether the latest block has a job of the provider that `find` does not return yet. @throws OracleError CHAIN_UNREACHABLE */
    async isUnconfirmed(jobId: bigint): Promise<boolean> {
      // Not encodable as uint256.
      if (jobId > maxUint256) return false;
      const job = await readJob(chain, contract, jobId, await readBlockNumber(chain));
      return job !== null && isAddressEqual(job.provider, provider);
    },
    /** The receipt of a paid job, signed once; null before payment. @throws OracleError SIGNER_UNAVAILABLE */
    async getReceipt(job: JobDocWithoutText, { merchant, signReceipt }: Pick<Commerce, 'merchant' | 'signReceipt'>) {
      // A reorganisation may have given the payment another transaction.
      if (job.receipt !== undefined && job.receipt.message.txHash === job.payment?.txHash) return job.receipt;
      const receipt = await signJobReceipt(job, { merchant, signReceipt, provider });
      return receipt === null ? null : store.saveReceipt(job, receipt);
    },
    /** The deliverable once its hash is on chain, otherwise null. */
    findDelivery: (jobId: bigint) => store.findSubmittedDelivery(contract, jobId),
  };
}

/** The receipt of a paid job; null before payment. */
async function signJobReceipt(
  { contract, jobId, delivery, payment, onChain }: Pick<JobDocWithoutText, 'contract' | 'jobId' | 'payment' | 'onChain' | 'delivery'>,
  { merchant, signReceipt, provider }: { merchant: Pick<MerchantConfig, 'asset'>; signReceipt: SignReceipt; provider: Address },
): Promise<SignedReceipt | null> {
  if (payment === null || delivery === null || onChain === null) return null;
  return signReceipt({
    payer: onChain.client,
    payee: provider,
    asset: merchant.asset,
    amountMicros: BigInt(payment.amountMicros),
    resource: buildJobResource({ contract, jobId }),
    answerHash: delivery.hash,
    forecastId: delivery.forecastId,
    attestationUid: delivery.attestationUid,
    txHash: payment.txHash,
    settledAt: payment.settledAt,
  });
}

/** Sweeps until the signal aborts. Logs a failure when its kind changes, and the first success after one. */
export async function watchJobs(deps: JobDeps, intervalMs: number, signal: AbortSignal): Promise<void> {
  let failure: string | null = null;
  while (!signal.aborted) {
    const failed = await sweepJobs(deps).then(
      () => null,
      (error: unknown) => ({ kind: isOracleError(error) ? error.code : getErrorMessage(error), error }),
    );
    if (failed !== null && failed.kind !== failure)
      deps.log.error({ err: failed.error }, 'looking for agent commerce jobs failed; it goes on');
    if (failed === null && failure !== null) deps.log.info('looking for agent commerce jobs works again');
    failure = failed?.kind ?? null;
    // An abort ends the pause, and with it the loop.
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

export interface JobDeps {
  chain: Chain;
  /** The ERC-8183 contract. */
  contract: Address;
  wallet: Wallet;
  store: JobStore;
  deliverySlot: DeliverySlot;
  ledger: Ledger;
  policy: JobPolicy;
  /** Composes the document of an offering. @throws OracleError, e.g. STEP_WAITING; retried */
  compose(offering: string, now: Date): Promise<ComposedDocument>;
  log: Log;
  time: Pick<TrustedTime, 'findDisagreement'>;
  now(): Date;
}

/** Blocks that the first start looks back, about a day on Base. */
const LOOK_BACK_BLOCKS = 43_200;

const MAX_JOBS_PER_SWEEP = 100;
const CONCURRENCY = 8;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** Retries before a warning about an unconfirmed transaction: about half a minute. */
const RETRIES_BEFORE_WARNING = 5;

/** May run concurrently in any number of processes, or be interrupted at any point. @throws OracleError CHAIN_UNREACHABLE, STEP_WAITING */
export async function sweepJobs(deps: JobDeps): Promise<void> {
  // Expiry times decide acceptance and delivery, so the clock must be trusted.
  const disagreement = await deps.time.findDisagreement();
  if (disagreement !== null) throw new OracleError('STEP_WAITING', disagreement);
  const confirmedBlock = await readConfirmedBlock(deps.chain);
  if (confirmedBlock === null) return;
  await collectJobEvents(deps, confirmedBlock);
  const due = await deps.store.listDue(deps.now(), MAX_JOBS_PER_SWEEP);
  // Concurrent, since each job may wait for its transaction.
  await new PQueue({ concurrency: CONCURRENCY }).addAll(
    due.map((doc) => {
      const entry = { name: 'agent-commerce job', parent: null, fields: { jobId: doc._id } };
      return () => inEntry(entry, () => advanceOrRecordFailure(deps, doc, confirmedBlock));
    }),
  );
}

async function advanceOrRecordFailure(deps: JobDeps, doc: JobDocWithoutText, confirmedBlock: ConfirmedBlock): Promise<void> {
  // Another process has read later blocks.
  if (doc.lastEventBlock > confirmedBlock.number) return;
  try {
    await advanceJob(deps, doc, confirmedBlock);
  } catch (error) {
    if (isOracleError(error, 'SHUTTING_DOWN')) return;
    await recordFailure(deps, doc, error);
  }
}

async function recordFailure({ store, log, now }: JobDeps, doc: JobDocWithoutText, cause: unknown): Promise<void> {
  const { _id, failures, failure: previousFailure } = doc;
  const error = toDatabaseError(cause);
  const failure = isOracleError(error) ? error.code : 'INTERNAL';
  const isNew = failure !== previousFailure;
  // Once per kind of failure; about an unconfirmed transaction only after half a minute.
  const isLong = failures === RETRIES_BEFORE_WARNING || (isNew && failures > RETRIES_BEFORE_WARNING);
  if (failure === 'TRANSACTION_UNCONFIRMED' ? isLong : isNew)
    log.warn({ job: _id, err: error }, 'a job of the agent commerce contract cannot go on; it is tried again');
  const pauseMs = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), MAX_RETRY_MS);
  await store.update(_id, { failures: failures + 1, failure, due: new Date(now().getTime() + pauseMs) });
}

/**
 * The cursor moves after the events are stored, so a process that crashes in between reads them again. Each new block reads the blocks before
 * it again, too, for events that a reorganisation or a node that was behind had hidden.
 */
async function collectJobEvents({ chain, contract, wallet, store, now }: JobDeps, confirmedBlock: ConfirmedBlock): Promise<void> {
  const last = Number(confirmedBlock.number);
  let cursor = await store.getCursor(contract);
  if (cursor !== null && cursor >= last) return;
  const from = Math.max(0, cursor === null ? last - LOOK_BACK_BLOCKS : cursor + 1 - REORG_MARGIN_BLOCKS);
  for await (const { events, to } of readJobEvents(chain, { contract, provider: wallet.address }, { from, to: last })) {
    if (events.length > 0) await store.recordEvents(contract, events, now());
    if (cursor !== null && to <= cursor) continue;
    await store.moveCursor(contract, cursor, to);
    cursor = to;
  }
}

const RECHECK_INTERVAL_MS = 60 * 60_000;

/** Idempotent, also across concurrent processes. @throws OracleError of the failed step; a retry continues there */
async function advanceJob(deps: JobDeps, doc: JobDocWithoutText, confirmedBlock: ConfirmedBlock): Promise<void> {
  const { store, chain, now } = deps;
  const block = Number(confirmedBlock.number);
  const job = await readJob(chain, doc.contract, BigInt(doc.jobId), confirmedBlock.number);
  if (job === null) throw new OracleError('CHAIN_UNREACHABLE', 'The node does not return the job');
  await store.setOnChainState(doc._id, job, block);
  const at = new Date(Math.max(confirmedBlock.at.getTime(), now().getTime()));
  const isAccepted = await advanceByState(deps, doc, { job, at, block });
  await store.setDue(doc._id, block, isAccepted ? getNextCheckTime(job, at) : null);
}

interface JobSnapshot {
  job: OnChainJob;
  /** The later of block time and clock: blocks of an idle chain are old. */
  at: Date;
  block: number;
}

/** Returns whether the job is accepted; a rejected job is not checked before its next event. */
async function advanceByState(deps: JobDeps, doc: JobDocWithoutText, snapshot: JobSnapshot): Promise<boolean> {
  const { state } = snapshot.job;
  if (state === 'OPEN') return proposePrice(deps, doc, snapshot);
  if (state === 'FUNDED') return deliverOrGiveUp(deps, doc, snapshot);
  const submitted = await recordSubmission(deps, doc, snapshot.job);
  if (state === 'SUBMITTED') {
    if (submitted && isDirectJob(snapshot.job)) await recordUnpaidSubmission(deps, doc, snapshot.job);
    return true;
  }
  await closeJob(deps, doc, snapshot, submitted);
  return true;
}

async function closeJob(deps: JobDeps, doc: JobDocWithoutText, { job, block }: JobSnapshot, submitted: boolean): Promise<void> {
  // An unpaid delivery keeps the slot until its hold expires.
  if (job.state !== 'COMPLETED' && submitted) return recordUnpaid(deps, doc, job);
  if (job.state === 'COMPLETED') await bookPayment(deps, doc, job, block);
  await deps.deliverySlot.release(doc);
}

/** Null once only an event can change the state: a contract does not fund an expired job. */
function getNextCheckTime({ state, expiresAt }: OnChainJob, at: Date): Date | null {
  if (state === 'COMPLETED' || state === 'REJECTED' || state === 'EXPIRED') return null;
  if (state === 'OPEN' && expiresAt <= at) return null;
  const untilExpiry = expiresAt.getTime() - at.getTime();
  const pauseMs = untilExpiry > 0 && untilExpiry < RECHECK_INTERVAL_MS ? untilExpiry : RECHECK_INTERVAL_MS;
  return new Date(at.getTime() + pauseMs);
}

async function proposePrice(deps: JobDeps, doc: JobDocWithoutText, snapshot: JobSnapshot): Promise<boolean> {
  const { job } = snapshot;
  if (job.expiresAt <= snapshot.at) return false;
  const offering = await getAcceptedOffering(deps, doc, snapshot);
  if (offering === null) return false;
  if (job.budget === offering.price.amount || doc.budgetTx !== null) return true;
  const { hash } = await proposeBudget(deps.wallet, doc.contract, job.jobId, offering.price.amount);
  await deps.store.update(doc._id, { budgetTx: hash });
  return true;
}

async function deliverOrGiveUp(deps: JobDeps, doc: JobDocWithoutText, snapshot: JobSnapshot): Promise<boolean> {
  const { job, at } = snapshot;
  const offering = await getAcceptedOffering(deps, doc, snapshot);
  if (offering === null) return false;
  const problem = doc.delivery === null ? findDeliveryObstacle(job, offering, at) : null;
  if (problem !== null) {
    const isRejected = await deps.store.reject(doc._id, problem);
    if (isRejected) await deps.deliverySlot.release(doc);
    // Otherwise another process has stored a deliverable.
    return !isRejected;
  }
  await deliverJob(deps, doc, job, offering);
  return true;
}

/** Why a funded job is not delivered, or null. */
function findDeliveryObstacle({ budget, expiresAt }: OnChainJob, { price }: Offering, at: Date): string | null {
  if (budget < price.amount) return 'The job was funded with less than the price, so nothing is delivered.';
  if (expiresAt.getTime() - at.getTime() >= MIN_DELIVERY_TIME_MS) return null;
  return 'The delivery could not be made in time before the job expires.';
}

/** The offering of an accepted job; null for a rejected one. Decided once, at the first check. */
async function getAcceptedOffering(deps: JobDeps, doc: JobDocWithoutText, snapshot: JobSnapshot): Promise<Offering | null> {
  if (doc.accepted !== null) return doc.accepted ? findOffering('agent-commerce', doc.offering!) : null;
  const { store } = deps;
  const { job } = snapshot;
  const order = parseJobDescription(job.description);
  if ('refused' in order) {
    await store.decide(doc._id, { accepted: false, reason: order.refused, offering: null, ref: null });
    return null;
  }
  const { offering, ref } = order;
  const reason = await findRejection(deps, doc, offering, snapshot);
  const accepted = await store.decide(doc._id, { accepted: reason === null, reason, offering: offering.name, ref });
  return accepted ? offering : null;
}

const MAX_DESCRIPTION_BYTES = 1_024;

const JOB_OFFERING_NAMES = OFFERINGS.filter(({ channel }) => channel === 'agent-commerce').map(({ name }) => name);

const DESCRIPTION = z.strictObject({
  offering: z.string(),
  // The only horizon sold; accepted explicitly, so that a client cannot pay for another one.
  horizon: z.literal(['7d', '7', 7]).optional(),
  ref: z.string().regex(REF_CODE_PATTERN).optional(),
});

const DESCRIPTION_FORMAT = '{"offering":"svc_bitcoin_signal"}, or only the name of the offering';

/** Parses a job description, with the ref code in lower case, or returns the reason as a sentence. Never quotes the description. */
export function parseJobDescription(text: string): { offering: Offering; ref: string | null } | { refused: string } {
  if (Buffer.byteLength(text) > MAX_DESCRIPTION_BYTES) return { refused: `The description has more than ${MAX_DESCRIPTION_BYTES} bytes.` };
  const bare = text.trim();
  const parsed = DESCRIPTION.safeParse(JOB_OFFERING_NAMES.includes(bare) ? { offering: bare } : parseJsonOrNull(bare));
  if (!parsed.success) return { refused: formatDescriptionProblem(parsed.error) };
  const offering = findOffering('agent-commerce', parsed.data.offering);
  if (offering === null) return { refused: `No such offering: the description may name ${JOB_OFFERING_NAMES.join(', ')}.` };
  return { offering, ref: parsed.data.ref?.toLowerCase() ?? null };
}

function formatDescriptionProblem({ issues }: z.ZodError): string {
  const [{ path }] = issues;
  if (path[0] === 'horizon') return 'Only the forecast of 7 days is sold: horizon must be "7d", or left out.';
  if (path[0] === 'ref') return `The ref code must have ${REF_CODE_RULE}.`;
  return `The description must be ${DESCRIPTION_FORMAT}; beside offering it may have horizon and ref.`;
}

async function findRejection(deps: JobDeps, doc: JobDocWithoutText, offering: Offering, { job, at }: JobSnapshot) {
  const { policy, wallet, store, deliverySlot } = deps;
  const [hasUnpaid, offers, takenUntil, direct] = await Promise.all([
    store.hasUnpaidDelivery(job),
    store.countOffers(job.client, at),
    deliverySlot.getTakenUntil(doc),
    isDirectJob(job) ? readDirectJobFacts(deps, job, at) : null,
  ]);
  return findJobRejection({ job, offering, policy, provider: wallet.address, at, hasUnpaid, offers, takenUntil, direct });
}

/** Records the submit transaction of a process that crashed after sending it; returns whether there is one. */
async function recordSubmission({ wallet, store }: JobDeps, doc: JobDocWithoutText, { jobId }: OnChainJob): Promise<boolean> {
  const { _id, contract, delivery, submission } = doc;
  if (delivery === null || submission !== null) return submission !== null;
  try {
    // The wallet's journal has the transaction, so this sends nothing.
    const { hash: txHash, at } = await submitJob(wallet, contract, jobId, delivery.hash);
    await store.update(_id, { submission: { txHash, at } });
    return true;
  } catch (error) {
    // The job was rejected after the deliverable was stored and before its submission.
    if (isOracleError(error, 'CHAIN_REVERTED')) return false;
    throw error;
  }
}

/** `complete` pays the provider directly: nothing to claim. @throws OracleError TRANSACTION_UNCONFIRMED while the logs hold no payment */
async function bookPayment(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob, block: number): Promise<void> {
  const { _id, contract, offering, ref, payment } = doc;
  if (payment !== null || offering === null) return;
  const { amount, txHash, settledAt, block: minedIn } = await findJobPayment(deps, doc, job, block);
  // The contract's fee may consume the whole amount.
  if (amount > 0n) {
    await deps.ledger.record({
      cause: { kind: 'job', contract, jobId: job.jobId },
      channel: 'agent-commerce',
      offering,
      amountMicros: amount,
      asset: deps.chain.addresses.stablecoin,
      payer: job.client,
      payee: deps.wallet.address,
      resource: buildJobResource(doc),
      ref,
      settledAt,
      txHash,
      block: minedIn,
    });
  }
  await deps.store.update(_id, { payment: { amountMicros: amount.toString(), txHash, settledAt } });
}

async function findJobPayment({ chain, wallet }: JobDeps, doc: JobDocWithoutText, { jobId }: OnChainJob, block: number) {
  const { contract, lastEventBlock, seenBlock } = doc;
  const source = { contract, provider: wallet.address };
  const between = (from: number, to: number) => ({ jobId, fromBlock: BigInt(from), toBlock: BigInt(to) });
  // Completion is the last event of a job, so its block is tried first.
  const inItsBlock = await readJobPayment(chain, source, between(lastEventBlock, lastEventBlock));
  const found = inItsBlock ?? (await readJobPayment(chain, source, between(seenBlock, block)));
  // A node may serve a block's state before its logs.
  if (found === null) throw new OracleError('TRANSACTION_UNCONFIRMED', 'The payment of a completed job is not in the logs of the node yet');
  return found;
}

/** Records the parties of an unpaid delivery: the evaluator, and the client that chose it. */
function recordUnpaid({ store }: JobDeps, { _id }: JobDocWithoutText, { client, evaluator }: OnChainJob): Promise<void> {
  return store.update(_id, { unpaidBy: [client, evaluator].map(toLowerCaseAddress) });
}

/** The contract has not paid a job without an evaluator with its submission: no further one is accepted, as the zero address counts as unpaid. */
async function recordUnpaidSubmission(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob): Promise<void> {
  if (doc.unpaidBy !== undefined) return;
  await recordUnpaid(deps, doc, job);
  deps.log.error({ job: doc._id }, 'the agent commerce contract has not paid a job without an evaluator; no further one is accepted');
}

/** The first deliverable that any process stored is submitted. @throws OracleError as `compose` and `Wallet.send`, STEP_WAITING: retry */
async function deliverJob(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob, offering: Offering): Promise<void> {
  const kept = doc.delivery ?? (await composeAndKeepDelivery(deps, doc, job, offering));
  if (kept === null) return;
  const { hash: txHash, at } = await submitJob(deps.wallet, doc.contract, job.jobId, kept.hash);
  await deps.store.update(doc._id, { submission: { txHash, at } });
}

/** Null for a job rejected meanwhile. */
async function composeAndKeepDelivery(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob, offering: Offering) {
  const { store, deliverySlot, policy } = deps;
  const problem = await findDeliveryProblem(deps, job);
  if (problem !== null) {
    await store.reject(doc._id, problem);
    return null;
  }
  const isKnown = isKnownEvaluator(policy, job.evaluator) || (isDirectJob(job) && (await isKnownJobClient(deps, job)));
  const needsSlot = !isKnown;
  if (needsSlot && (await deliverySlot.getTakenUntil(doc)) !== null) throw slotTakenError();
  const delivery = await composeDelivery(deps, job, offering);
  // Acquired after composing, so that a document that fails to compose does not block the slot.
  if (needsSlot && !(await deliverySlot.acquire(doc, policy.unpaidPauseMs))) throw slotTakenError();
  const kept = await store.saveDelivery(doc._id, delivery);
  if (kept === null) await deliverySlot.release(doc);
  return kept;
}

/** A contract may change behind its proxy after a job was accepted. */
async function findDeliveryProblem(deps: JobDeps, job: OnChainJob): Promise<string | null> {
  if (isKnownEvaluator(deps.policy, job.evaluator)) return null;
  if (await deps.store.hasUnpaidDelivery(job))
    return 'The client or the evaluator has let an earlier delivery go unpaid, so nothing is delivered.';
  if (!isDirectJob(job) || (await hasKnownCode(deps))) return null;
  return 'The code of the contract is no longer one that is known to pay a job without an evaluator, so nothing is delivered.';
}

function slotTakenError(): OracleError {
  return new OracleError('STEP_WAITING', 'Jobs of unknown evaluators are delivered one at a time');
}

const SALT_BYTES = 32;

async function composeDelivery(deps: JobDeps, job: OnChainJob, offering: Offering): Promise<JobDelivery> {
  const { chain, contract, wallet, compose, now } = deps;
  const composedAt = now();
  const { document, forecastId, attestationUid } = await compose(offering.name, composedAt);
  const text = canonicalize({
    kind: 'agent-commerce-delivery',
    job: {
      chain: `eip155:${chain.chainId}`,
      contract,
      jobId: job.jobId.toString(),
      client: job.client,
      evaluator: job.evaluator,
      provider: wallet.address,
    },
    offering: offering.name,
    title: offering.title,
    price: formatMoney(offering.price),
    composedAt: composedAt.toISOString(),
    forecastId,
    attestationUid,
    document,
    // The hash is public and most of the text can be guessed: the salt prevents a dictionary attack.
    salt: bytesToHex(randomBytes(SALT_BYTES)),
  }) as string;
  return { text, hash: keccak256(stringToBytes(text)), composedAt, forecastId, attestationUid };
}

/** @throws OracleError CHAIN_UNREACHABLE */
async function readDirectJobFacts(deps: JobDeps, job: OnChainJob, at: Date): Promise<DirectJobFacts> {
  const facts = [hasKnownCode(deps), isKnownJobClient(deps, job), deps.store.countOpenDirectJobs(at)] as const;
  const [isKnownCode, isKnownClient, openJobs] = await Promise.all(facts);
  return { isKnownCode, isKnownClient, openJobs };
}

/** Whether the contract, and the implementation that its proxy has now, are known to pay with the submission. @throws OracleError CHAIN_UNREACHABLE */
async function hasKnownCode({ chain, contract, policy }: JobDeps): Promise<boolean> {
  const { direct } = policy;
  if (direct === null) return false;
  const hashes = await readCodeHashes(chain, contract);
  return hashes?.every((hash) => direct.codeHashes.includes(hash)) ?? false;
}

async function isKnownJobClient({ ledger }: JobDeps, { client }: OnChainJob): Promise<boolean> {
  return (await ledger.countPayments(client, { channel: 'agent-commerce', max: 1 })) > 0;
}
