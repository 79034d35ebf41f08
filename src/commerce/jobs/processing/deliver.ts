import { randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import { bytesToHex, keccak256, stringToBytes } from 'viem';
import { type OnChainJob, submitJob } from '../../../chain/erc8183/jobs.ts';
import { OracleError } from '../../../platform/errors.ts';
import { formatMoney } from '../../money.ts';
import type { Offering } from '../../price-list.ts';
import type { JobDelivery, JobDocWithoutText } from '../job-doc.ts';
import { isKnownEvaluator } from '../job-policy.ts';
import type { JobDeps } from './deps.ts';

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
  const needsSlot = !isKnownEvaluator(policy, job.evaluator);
  if (needsSlot && (await store.hasUnpaidDelivery(job))) {
    await store.reject(doc._id, 'The client or the evaluator has let an earlier delivery go unpaid, so nothing is delivered.');
    return null;
  }
  if (needsSlot && (await deliverySlot.getTakenUntil(doc)) !== null) throw slotTakenError();
  const delivery = await composeDelivery(deps, job, offering);
  // Acquired after composing, so that a document that fails to compose does not block the slot.
  if (needsSlot && !(await deliverySlot.acquire(doc, policy.unpaidPauseMs))) throw slotTakenError();
  const kept = await store.saveDelivery(doc._id, delivery);
  if (kept === null) await deliverySlot.release(doc);
  return kept;
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
