import { getAddress, isAddressEqual } from 'viem';
import type { z } from 'zod';
import type { Asker } from '../../access/asker.ts';
import type { JobDesk } from '../../commerce/jobs/desk.ts';
import { type ListedJob, resourceOf } from '../../commerce/jobs/job-doc.ts';
import { fetchMessage, nextOf, receiptOf, withheldReason } from '../../commerce/jobs/told.ts';
import { formatAmount, usdOf } from '../../commerce/money.ts';
import { findOffering } from '../../commerce/offerings.ts';
import { networkOf, type Till } from '../../commerce/till.ts';
import { toldPayment, toldReceipt } from '../../commerce/told-payment.ts';
import { OracleError } from '../../errors.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { DELIVERY, FETCH_BODY, JOB_PARAMS, JOB_REPLY } from '../schemas/jobs.ts';
import { requireSignature } from '../wallet-signature.ts';

const PATH = '/api/svc/commerce/jobs/{jobId}';

const FETCH_FORM = 'Fetch svc job: <contract, with its checksum>:<jobId>:<timestamp>';

/** Jobs of the agent commerce protocol (interface, section 2.8): what became of one, and what it has delivered. */
export function jobRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: PATH,
      name: 'getJob',
      tag: 'commerce',
      summary: 'What became of an agent commerce job, without what it delivers',
      description:
        'Jobs are created in the ERC-8183 contract that `GET /api/svc/commerce/offerings?channel=agent-commerce` names, for the provider named there. One is known here once it is at the confirmation depth: before, the answer is 503 with `Retry-After`.',
      params: JOB_PARAMS,
      reply: JOB_REPLY,
      errors: ['NOT_FOUND', 'STEP_WAITING', 'TRANSACTION_UNCONFIRMED', 'CHAIN_UNREACHABLE'],
      handle: async ({ params, asker }) => ({ body: await jobReply(parts, await knownJob(parts, params.jobId, asker)) }),
    }),
    route({
      method: 'post',
      path: `${PATH}/deliverable`,
      name: 'fetchJobDeliverable',
      tag: 'commerce',
      summary: 'The exact bytes that a job has delivered, for its client and its evaluator',
      description: `The wallet signs \`${FETCH_FORM}\` (EIP-191); contract wallets sign by EIP-1271. The keccak256 of the bytes is what the job says on chain. They are handed out while the job is SUBMITTED and once it is COMPLETED; after it was rejected, or has expired, no longer.`,
      cost: 'rpc',
      params: JOB_PARAMS,
      body: FETCH_BODY,
      reply: DELIVERY,
      errors: ['UNAUTHENTICATED', 'NOT_FOUND', 'STEP_WAITING', 'TRANSACTION_UNCONFIRMED', 'CHAIN_UNREACHABLE'],
      handle: ({ params, body, asker }) => deliverableReply(parts, params.jobId, { ...body, asker }),
    }),
  ];
}

type Known = ListedJob & { onChain: NonNullable<ListedJob['onChain']> };

async function knownJob({ jobs, commerce }: HttpParts, jobId: string, asker: Asker): Promise<Known & { desk: JobDesk }> {
  const job = await jobs?.find(BigInt(jobId));
  if (jobs && job?.onChain) return { ...job, onChain: job.onChain, desk: jobs };
  // Jobs are looked for once history is replayed.
  commerce.requireOpen();
  await asker.countChainCall();
  if (await jobs?.isOnItsWay(BigInt(jobId))) {
    throw new OracleError('TRANSACTION_UNCONFIRMED', 'The job is on chain, and its block is not deep enough or not read yet', {
      field: 'jobId',
      suggestedAction: 'Send the same request again in a moment.',
      retryAfterSeconds: 2,
    });
  }
  throw new OracleError('NOT_FOUND', 'No such job for this provider', {
    field: 'jobId',
    suggestedAction: 'Create it in the contract and for the provider that the offerings name.',
  });
}

const amountOf = (units: bigint) => ({ amount: units.toString(), usd: formatAmount(usdOf(units)) });

async function jobReply({ commerce, now }: HttpParts, job: Known & { desk: JobDesk }): Promise<z.input<typeof JOB_REPLY>> {
  const { jobId, desk, onChain, accepted, reason, offering, ref } = job;
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
    payment: paymentOf(job, commerce.till),
    receipt: receipt === null ? null : toldReceipt(receipt),
    updatedAt: now().toISOString(),
  };
}

function paymentOf(job: Known & { desk: JobDesk }, till: Till): z.input<typeof JOB_REPLY>['payment'] {
  const { desk, onChain, offering, payment, ref } = job;
  if (payment === null || offering === null) return null;
  const { amountMicros, txHash, settledAt } = payment;
  return toldPayment({
    ...{ channel: 'agent-commerce', offering, resource: resourceOf(job), ref, txHash, settledAt },
    ...{ payer: onChain.client, payee: desk.provider, asset: till.asset, chain: networkOf(till) },
    amountMicros: BigInt(amountMicros),
  });
}

function deliverableOf({ jobId, delivery, submission }: Known): z.input<typeof JOB_REPLY>['deliverable'] {
  if (delivery === null || submission === null) return null;
  const path = `${PATH.replace('{jobId}', jobId)}/deliverable`;
  return { hash: delivery.hash, txHash: submission.txHash, submittedAt: submission.at.toISOString(), path };
}

async function deliverableReply(
  parts: HttpParts,
  jobId: string,
  { wallet, timestamp, signature, asker }: z.output<typeof FETCH_BODY> & { asker: Asker },
): Promise<Reply<never>> {
  const job = await knownJob(parts, jobId, asker);
  const { desk, onChain } = job;
  if (![onChain.client, onChain.evaluator].some((entitled) => isAddressEqual(entitled, wallet))) {
    throw new OracleError('UNAUTHENTICATED', 'This wallet is neither the client nor the evaluator of the job', { field: 'wallet' });
  }
  const message = fetchMessage(desk.contract, jobId, timestamp);
  await requireSignature(parts, { message, form: FETCH_FORM, wallet, timestamp, signature });
  const withheld = withheldReason(job);
  if (withheld !== null) throw new OracleError('NOT_FOUND', withheld, { field: 'jobId', suggestedAction: 'Create another job.' });
  const delivery = await desk.delivery(BigInt(jobId));
  if (delivery === null) throw new OracleError('STEP_WAITING', 'Nothing is delivered for this job yet', { retryAfterSeconds: 5 });
  return { headers: { 'Content-Type': 'application/json; charset=utf-8' }, raw: delivery.text };
}
