import { getAddress, hashMessage, isAddressEqual } from 'viem';
import type { z } from 'zod';
import { requireInWindow, timestampMs } from '../../access/login-message.ts';
import type { JobDesk } from '../../commerce/jobs/desk.ts';
import type { ListedJob } from '../../commerce/jobs/job-doc.ts';
import { fetchMessage, nextOf, receiptOf } from '../../commerce/jobs/told.ts';
import { formatAmount, usdOf } from '../../commerce/money.ts';
import { findOffering } from '../../commerce/offerings.ts';
import { networkOf } from '../../commerce/till.ts';
import { OracleError } from '../../errors.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { DELIVERY, FETCH_BODY, JOB_PARAMS, JOB_REPLY } from '../schemas/jobs.ts';

const PATH = '/api/svc/commerce/jobs/{jobId}';

/** Jobs of the agent commerce protocol (interface, section 2.8): what became of one, and what it has delivered. */
export function jobRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: PATH,
      name: 'getJob',
      tag: 'commerce',
      summary: 'What became of an agent commerce job, without what it delivers',
      description:
        'Jobs are created in the ERC-8183 contract that `GET /api/svc/commerce/offerings?channel=agent-commerce` names, for the provider named there. One is known here once it is at the confirmation depth.',
      params: JOB_PARAMS,
      reply: JOB_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ params }) => ({ body: await jobReply(parts, await knownJob(parts, params.jobId)) }),
    }),
    route({
      method: 'post',
      path: `${PATH}/deliverable`,
      name: 'fetchJobDeliverable',
      tag: 'commerce',
      summary: 'The exact bytes that a job has delivered, for its client and its evaluator',
      description:
        'The wallet signs `Fetch svc job: <contract>:<jobId>:<timestamp>` (EIP-191), the contract with its checksum; contract wallets sign by EIP-1271. The keccak256 of the bytes is what the job says on chain.',
      cost: 'rpc',
      params: JOB_PARAMS,
      body: FETCH_BODY,
      reply: DELIVERY,
      errors: ['UNAUTHENTICATED', 'NOT_FOUND', 'STEP_WAITING', 'CHAIN_UNREACHABLE'],
      handle: ({ params, body }) => deliverableReply(parts, params.jobId, body),
    }),
  ];
}

type Known = ListedJob & { onChain: NonNullable<ListedJob['onChain']> };

async function knownJob({ jobs }: HttpParts, jobId: string): Promise<Known & { desk: JobDesk }> {
  const job = await jobs?.find(BigInt(jobId));
  if (jobs && job?.onChain) return { ...job, onChain: job.onChain, desk: jobs };
  throw new OracleError('NOT_FOUND', 'No such job for this provider', {
    field: 'jobId',
    suggestedAction: 'A new job is known here once its block is deep enough, seconds later; its provider must be the one of the offerings.',
  });
}

const amountOf = (units: bigint) => ({ amount: units.toString(), usd: formatAmount(usdOf(units)) });

async function jobReply({ commerce, now }: HttpParts, job: Known & { desk: JobDesk }): Promise<z.input<typeof JOB_REPLY>> {
  const { jobId, desk, onChain, accepted, reason, offering, ref, payment } = job;
  const price = offering === null ? null : (findOffering('agent-commerce', offering)?.price.amount ?? null);
  const receipt = await receiptOf(job, { ...commerce, provider: desk.provider });
  return {
    success: true,
    ...{ jobId, contract: desk.contract, chain: networkOf(commerce.till), provider: desk.provider },
    ...{ state: onChain.state, accepted, reason, next: nextOf(job, now()), waitingFor: job.failure },
    ...{ offering, price: price === null ? null : amountOf(price), budget: amountOf(BigInt(onChain.budget)), ref },
    client: getAddress(onChain.client),
    evaluator: getAddress(onChain.evaluator),
    expiresAt: onChain.expiresAt.toISOString(),
    deliverable: deliverableOf(job),
    payment:
      payment === null
        ? null
        : { txHash: payment.txHash, ...amountOf(BigInt(payment.amountMicros)), settledAt: payment.settledAt.toISOString() },
    receipt: receipt === null ? null : { ...receipt, types: { Receipt: [...receipt.types.Receipt] } },
    updatedAt: now().toISOString(),
  };
}

function deliverableOf({ jobId, delivery, submission }: Known): z.input<typeof JOB_REPLY>['deliverable'] {
  if (delivery === null || submission === null) return null;
  const path = `${PATH.replace('{jobId}', jobId)}/deliverable`;
  return { hash: delivery.hash, txHash: submission.txHash, submittedAt: submission.at.toISOString(), path };
}

async function deliverableReply(
  parts: HttpParts,
  jobId: string,
  { wallet, timestamp, signature }: z.output<typeof FETCH_BODY>,
): Promise<Reply<never>> {
  requireInWindow(timestampMs(timestamp), parts.now(), 'timestamp');
  const { desk, onChain } = await knownJob(parts, jobId);
  if (![onChain.client, onChain.evaluator].some((entitled) => isAddressEqual(entitled, wallet))) {
    throw new OracleError('UNAUTHENTICATED', 'This wallet is neither the client nor the evaluator of the job', { field: 'wallet' });
  }
  const hash = hashMessage(fetchMessage(desk.contract, jobId, timestamp));
  if (!(await desk.isSignedBy({ wallet: getAddress(wallet), hash, signature }))) {
    throw new OracleError('UNAUTHENTICATED', 'The signature is not one of this wallet over this message', {
      field: 'signature',
      suggestedAction: 'Sign `Fetch svc job: <contract>:<jobId>:<timestamp>`, the contract with its checksum.',
    });
  }
  const delivery = await desk.delivery(BigInt(jobId));
  if (delivery === null) throw new OracleError('STEP_WAITING', 'Nothing is delivered for this job yet', { retryAfterSeconds: 5 });
  return { headers: { 'Content-Type': 'application/json; charset=utf-8' }, raw: delivery.text };
}
