import canonicalize from 'canonicalize';
import { keccak256, stringToBytes } from 'viem';
import { type Job, submitJob } from '../../chain/agent-commerce.ts';
import { displayMoney } from '../money.ts';
import type { Offering } from '../offerings.ts';
import type { Delivery, ListedJob } from './job-doc.ts';
import type { JobParts } from './parts.ts';

/**
 * Delivers a job: composes the document, keeps it, and only then puts its hash on chain. What is kept already is what is submitted,
 * whoever composed it. The transaction is the provider's signature under the bytes.
 * @throws OracleError as `compose` and `Wallet.send`: the same call goes on where it stands
 */
export async function deliver(parts: JobParts, doc: ListedJob, job: Job, offering: Offering): Promise<void> {
  const kept = doc.delivery ?? (await parts.store.keepDelivery(doc._id, await composeDelivery(parts, job, offering)));
  if (kept === null) return;
  const { hash: txHash, at } = await submitJob(parts.wallet, doc.contract, job.jobId, kept.hash);
  await parts.store.set(doc._id, { submission: { txHash, at } });
}

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
  }) as string;
  return { text, hash: keccak256(stringToBytes(text)), composedAt, forecastId, attestationUid };
}
