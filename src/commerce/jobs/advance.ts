import { type DeepBlock, type Job, readJob, setBudget } from '../../chain/agent-commerce.ts';
import { OracleError } from '../../errors.ts';
import { findOffering, type Offering } from '../offerings.ts';
import { bookPayment, noteSubmission, noteUnpaid } from './close.ts';
import { deliver } from './deliver.ts';
import { readDescription } from './description.ts';
import type { ListedJob } from './job-doc.ts';
import type { JobParts } from './parts.ts';
import { LAST_DELIVERY_MS, refusalOf } from './policy.ts';

/** Events say when a job changes; this is for one that changes without. */
const LOOK_AGAIN_MS = 60 * 60_000;

/**
 * Takes one job as far as it goes, by its state on chain at a block; may run any number of times, in several processes at once.
 * @throws OracleError what keeps it from going on: the same call goes on where it stands
 */
export async function advanceJob(parts: JobParts, doc: ListedJob, deep: DeepBlock): Promise<void> {
  const { store, chain, now } = parts;
  const block = Number(deep.number);
  const job = await readJob(chain, doc.contract, BigInt(doc.jobId), deep.number);
  if (job === null) throw new OracleError('CHAIN_UNREACHABLE', 'The chain does not tell of the job');
  await store.noteOnChain(doc._id, job, block);
  const at = new Date(Math.max(deep.at.getTime(), now().getTime()));
  const isTakenOn = await step(parts, doc, { job, at, block });
  await store.setDue(doc._id, block, isTakenOn ? nextLook(job, at) : null);
}

interface Look {
  job: Job;
  /** The time by whichever clock is ahead: blocks of a quiet chain are old. */
  at: Date;
  block: number;
}

/** Resolves to whether the job is taken on: with one that is refused nothing is done before its next event. */
async function step(parts: JobParts, doc: ListedJob, look: Look): Promise<boolean> {
  const { state } = look.job;
  if (state === 'OPEN') return offerPrice(parts, doc, look);
  if (state === 'FUNDED') return serve(parts, doc, look);
  const submitted = await noteSubmission(parts, doc, look.job);
  if (state === 'SUBMITTED') return true;
  await close(parts, doc, look, submitted);
  return true;
}

async function close(parts: JobParts, doc: ListedJob, { job, block }: Look, submitted: boolean): Promise<void> {
  // After a delivery that nobody pays for, the others wait until its time is over.
  if (job.state !== 'COMPLETED' && submitted) return noteUnpaid(parts, doc, job);
  if (job.state === 'COMPLETED') await bookPayment(parts, doc, job, block);
  await parts.turns.pass(doc);
}

/** Null once only an event can change anything: no contract funds what has expired. */
function nextLook({ state, expiresAt }: Job, at: Date): Date | null {
  if (state === 'COMPLETED' || state === 'REJECTED' || state === 'EXPIRED') return null;
  if (state === 'OPEN' && expiresAt <= at) return null;
  const untilExpiry = expiresAt.getTime() - at.getTime();
  const pauseMs = untilExpiry > 0 && untilExpiry < LOOK_AGAIN_MS ? untilExpiry : LOOK_AGAIN_MS;
  return new Date(at.getTime() + pauseMs);
}

async function offerPrice(parts: JobParts, doc: ListedJob, look: Look): Promise<boolean> {
  const { job } = look;
  if (job.expiresAt <= look.at) return false;
  const offering = await acceptedOffering(parts, doc, look);
  if (offering === null) return false;
  if (job.budget === offering.price.amount || doc.budgetTx !== null) return true;
  const { hash } = await setBudget(parts.wallet, doc.contract, job.jobId, offering.price.amount);
  await parts.store.set(doc._id, { budgetTx: hash });
  return true;
}

async function serve(parts: JobParts, doc: ListedJob, look: Look): Promise<boolean> {
  const { job, at } = look;
  const offering = await acceptedOffering(parts, doc, look);
  if (offering === null) return false;
  const problem = doc.delivery === null ? hindrance(job, offering, at) : null;
  if (problem !== null) return !(await giveUp(parts, doc, problem));
  await deliver(parts, doc, job, offering);
  return true;
}

/** Resolves to false where another process has something kept for delivery. */
async function giveUp({ store, turns }: JobParts, doc: ListedJob, reason: string): Promise<boolean> {
  const isRefused = await store.refuse(doc._id, reason);
  if (isRefused) await turns.pass(doc);
  return isRefused;
}

/** Why nothing is delivered for the money in escrow; null when something is. */
function hindrance({ budget, expiresAt }: Job, { price }: Offering, at: Date): string | null {
  if (budget < price.amount) return 'The job was funded with less than the price, so nothing is delivered.';
  if (expiresAt.getTime() - at.getTime() >= LAST_DELIVERY_MS) return null;
  return 'The delivery could not be made in time before the job expires.';
}

/** The offering of a job that is taken on; null for one that is refused. Decided once, at the first look. */
async function acceptedOffering(parts: JobParts, doc: ListedJob, look: Look): Promise<Offering | null> {
  if (doc.accepted !== null) return doc.accepted ? findOffering('agent-commerce', doc.offering!) : null;
  const { store } = parts;
  const { job } = look;
  const order = readDescription(job.description);
  if ('refused' in order) {
    await store.decide(doc._id, { accepted: false, reason: order.refused, offering: null, ref: null });
    return null;
  }
  const { offering, ref } = order;
  const reason = await refusal(parts, doc, offering, look);
  const accepted = await store.decide(doc._id, { accepted: reason === null, reason, offering: offering.name, ref });
  return accepted ? offering : null;
}

async function refusal({ policy, wallet, store, turns, now }: JobParts, doc: ListedJob, offering: Offering, { job, at }: Look) {
  const [hasUnpaid, offers, takenUntil] = await Promise.all([
    store.hasUnpaid(job),
    store.countOffers(job.client, at),
    turns.takenUntil(doc, now()),
  ]);
  return refusalOf({ job, offering, policy, provider: wallet.address, at, hasUnpaid, offers, takenUntil });
}
