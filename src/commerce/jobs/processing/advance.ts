import { type OnChainJob, proposeBudget, readJob } from '../../../chain/erc8183/jobs.ts';
import type { ConfirmedBlock } from '../../../chain/rpc/block-depth.ts';
import { OracleError } from '../../../platform/errors.ts';
import { findOffering, type Offering } from '../../price-list.ts';
import { isDirectJob } from '../direct-job-policy.ts';
import { parseJobDescription } from '../job-description.ts';
import type { JobDocWithoutText } from '../job-doc.ts';
import { findJobRejection, MIN_DELIVERY_TIME_MS } from '../job-policy.ts';
import { bookPayment, recordSubmission, recordUnpaid, recordUnpaidSubmission } from './close.ts';
import { deliverJob } from './deliver.ts';
import type { JobDeps } from './deps.ts';
import { readDirectJobFacts } from './direct-job-facts.ts';

const RECHECK_INTERVAL_MS = 60 * 60_000;

/** Idempotent, also across concurrent processes. @throws OracleError of the failed step; a retry continues there */
export async function advanceJob(deps: JobDeps, doc: JobDocWithoutText, confirmedBlock: ConfirmedBlock): Promise<void> {
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
  if (problem !== null) return !(await rejectFundedJob(deps, doc, problem));
  await deliverJob(deps, doc, job, offering);
  return true;
}

/** Returns false when another process has stored a deliverable. */
async function rejectFundedJob({ store, deliverySlot }: JobDeps, doc: JobDocWithoutText, reason: string): Promise<boolean> {
  const isRejected = await store.reject(doc._id, reason);
  if (isRejected) await deliverySlot.release(doc);
  return isRejected;
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
