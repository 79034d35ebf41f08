import { randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import { bytesToHex, keccak256, stringToBytes } from 'viem';
import { type Job, submitJob } from '../../chain/agent-commerce.ts';
import { OracleError } from '../../errors.ts';
import { displayMoney } from '../money.ts';
import type { Offering } from '../offerings.ts';
import type { Delivery, ListedJob } from './job-doc.ts';
import type { JobParts } from './parts.ts';
import { isKnown } from './policy.ts';

/**
 * Delivers a job: composes the document, keeps it, and only then puts its hash on chain. What is kept already is what is submitted,
 * whoever composed it. The transaction is the provider's signature under the bytes.
 * @throws OracleError as `compose` and `Wallet.send`, STEP_WAITING while it is another job's turn: the same call goes on where it stands
 */
export async function deliver(parts: JobParts, doc: ListedJob, job: Job, offering: Offering): Promise<void> {
  const kept = doc.delivery ?? (await keepDelivery(parts, doc, job, offering));
  if (kept === null) return;
  const { hash: txHash, at } = await submitJob(parts.wallet, doc.contract, job.jobId, kept.hash);
  await parts.store.set(doc._id, { submission: { txHash, at } });
}

/** Null for a job that was refused in the meantime. */
async function keepDelivery(parts: JobParts, doc: ListedJob, job: Job, offering: Offering): Promise<Delivery | null> {
  const { store, turns, policy, now } = parts;
  const needsTurn = !isKnown(policy, job.evaluator);
  if (needsTurn && (await store.hasUnpaid(job))) {
    await store.refuse(doc._id, 'The client or the evaluator has let an earlier delivery go unpaid, so nothing is delivered.');
    return null;
  }
  if (needsTurn && (await turns.takenUntil(doc, now())) !== null) throw anotherTurn();
  const delivery = await composeDelivery(parts, job, offering);
  // Only now: what cannot be composed keeps nobody else waiting.
  if (needsTurn && !(await turns.take(doc, now(), policy.unpaidPauseMs))) throw anotherTurn();
  const kept = await store.keepDelivery(doc._id, delivery);
  if (kept === null) await turns.pass(doc);
  return kept;
}

function anotherTurn(): OracleError {
  return new OracleError('STEP_WAITING', 'Jobs of unknown evaluators are delivered one at a time');
}

const SALT_BYTES = 32;

async function composeDelivery({ chain, contract, wallet, compose, now }: JobParts, job: Job, offering: Offering): Promise<Delivery> {
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
    price: displayMoney(offering.price),
    ...{ composedAt: composedAt.toISOString(), forecastId, attestationUid, document },
    // Everybody knows the hash, and nearly all of the rest can be guessed.
    salt: bytesToHex(randomBytes(SALT_BYTES)),
  }) as string;
  return { text, hash: keccak256(stringToBytes(text)), composedAt, forecastId, attestationUid };
}
