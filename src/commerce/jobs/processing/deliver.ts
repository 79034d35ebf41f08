import { randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import { bytesToHex, keccak256, stringToBytes } from 'viem';
import { type OnChainJob, submitJob } from '../../../chain/erc8183/jobs.ts';
import { OracleError } from '../../../platform/errors.ts';
import { formatMoney } from '../../money.ts';
import type { Offering } from '../../price-list.ts';
import { isDirectJob } from '../direct-job-policy.ts';
import type { JobDelivery, JobDocWithoutText } from '../job-doc.ts';
import { isKnownEvaluator } from '../job-policy.ts';
import type { JobDeps } from './deps.ts';
import { hasKnownCode, isKnownJobClient } from './direct-job-facts.ts';

/** The first deliverable that any process stored is submitted. @throws OracleError as `compose` and `Wallet.send`, STEP_WAITING: retry */
export async function deliverJob(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob, offering: Offering): Promise<void> {
  const kept = doc.delivery ?? (await composeAndKeepDelivery(deps, doc, job, offering));
  if (kept === null) return;
  const { hash: txHash, at } = await submitJob(deps.wallet, doc.contract, job.jobId, kept.hash);
  await deps.store.update(doc._id, { submission: { txHash, at } });
}

/** Null for a job rejected meanwhile. */
async function composeAndKeepDelivery(
  deps: JobDeps,
  doc: JobDocWithoutText,
  job: OnChainJob,
  offering: Offering,
): Promise<JobDelivery | null> {
  const { store, deliverySlot, policy } = deps;
  const problem = await findDeliveryProblem(deps, job);
  if (problem !== null) {
    await store.reject(doc._id, problem);
    return null;
  }
  const needsSlot = await isDeliveredInTurn(deps, job);
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

async function isDeliveredInTurn(deps: JobDeps, job: OnChainJob): Promise<boolean> {
  if (isKnownEvaluator(deps.policy, job.evaluator)) return false;
  return !isDirectJob(job) || !(await isKnownJobClient(deps, job));
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
