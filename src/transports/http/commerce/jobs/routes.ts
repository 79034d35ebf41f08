import { getAddress, isAddressEqual } from 'viem';
import type { z } from 'zod';
import type { RequestContext } from '../../../../auth/request-context.ts';
import { buildJobResource, type JobDocWithoutText } from '../../../../commerce/jobs/job-doc.ts';
import type { JobService } from '../../../../commerce/jobs/job-service.ts';
import { buildFetchMessage, describeNextStep, getWithheldReason } from '../../../../commerce/jobs/job-status.ts';
import { getCaip2Network, type MerchantConfig } from '../../../../commerce/merchant-config.ts';
import { formatAmount, usdFromMicros } from '../../../../commerce/money.ts';
import { findOffering } from '../../../../commerce/price-list.ts';
import { toPaymentResponse, toReceiptResponse } from '../../../../commerce/receipts/payment-response.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { requireWalletSignature } from '../wallet-signature.ts';
import { DELIVERY, FETCH_BODY, JOB_PARAMS, JOB_REPLY } from './schemas.ts';

type JobDeps = Pick<HttpDeps, 'commerce' | 'jobs' | 'now'>;

const PATH = '/api/svc/commerce/jobs/{jobId}';

const FETCH_MESSAGE_TEMPLATE = 'Fetch svc job: <contract, with its checksum>:<jobId>:<timestamp>';

/** ERC-8183 jobs (interface, section 2.8): status and deliverable. */
export function jobRoutes(deps: JobDeps): Route[] {
  return [
    route(`GET ${PATH}`, 'getJob', {
      tag: 'commerce',
      summary: 'Status of an agent commerce job, without its deliverable',
      description:
        'Jobs are created in the ERC-8183 contract and for the provider of `GET /api/svc/commerce/offerings?channel=agent-commerce`. A job is visible at the confirmation depth; before that the response is 503 with `Retry-After`.',
      params: JOB_PARAMS,
      reply: JOB_REPLY,
      errors: ['NOT_FOUND', 'STEP_WAITING', 'TRANSACTION_UNCONFIRMED', 'CHAIN_UNREACHABLE', 'SIGNER_UNAVAILABLE'],
      handle: async ({ params, context }) => ({ body: await toJobReply(deps, await requireJob(deps, params.jobId, context)) }),
    }),
    route(`POST ${PATH}/deliverable`, 'fetchJobDeliverable', {
      tag: 'commerce',
      summary: 'Exact bytes of a deliverable, for the client and the evaluator of the job',
      description: `The wallet signs \`${FETCH_MESSAGE_TEMPLATE}\` (EIP-191; contract wallets by EIP-1271). The keccak256 of the bytes is the deliverable on chain. They are available while the job is SUBMITTED and once it is COMPLETED, not after a rejection or expiry.`,
      cost: 'rpc',
      deliversPaid: true,
      params: JOB_PARAMS,
      body: FETCH_BODY,
      reply: DELIVERY,
      errors: ['UNAUTHENTICATED', 'NOT_FOUND', 'STEP_WAITING', 'TRANSACTION_UNCONFIRMED', 'CHAIN_UNREACHABLE'],
      handle: async ({ params, body, context }) => fetchDeliverable(deps, await requireJob(deps, params.jobId, context), body),
    }),
  ];
}

type ConfirmedJob = JobDocWithoutText & { onChain: NonNullable<JobDocWithoutText['onChain']>; service: JobService };

async function requireJob({ jobs, commerce }: JobDeps, jobId: string, context: RequestContext): Promise<ConfirmedJob> {
  const job = await jobs?.find(BigInt(jobId));
  if (jobs && job?.onChain) return { ...job, onChain: job.onChain, service: jobs };
  // The watcher starts once history is replayed.
  commerce.requireOpen();
  await context.countChainCall();
  if (await jobs?.isUnconfirmed(BigInt(jobId))) {
    throw new OracleError('TRANSACTION_UNCONFIRMED', 'The job is on chain, but not confirmed or not indexed yet', {
      field: 'jobId',
      suggestedAction: 'Retry in a moment.',
      retryAfterSeconds: 2,
    });
  }
  const suggestedAction = 'Create it in the contract and for the provider of the offerings.';
  throw new OracleError('NOT_FOUND', 'No such job for this provider', { field: 'jobId', suggestedAction });
}

const toJobAmount = (units: bigint) => ({ amount: units.toString(), usd: formatAmount(usdFromMicros(units)) });

async function toJobReply({ commerce, now }: JobDeps, job: ConfirmedJob): Promise<z.input<typeof JOB_REPLY>> {
  const { onChain, offering, service } = job;
  const price = offering === null ? undefined : findOffering('agent-commerce', offering)?.price.amount;
  const receipt = await service.getReceipt(job, commerce);
  return {
    success: true,
    jobId: job.jobId,
    contract: service.contract,
    chain: getCaip2Network(commerce.merchant),
    provider: service.provider,
    state: onChain.state,
    accepted: job.accepted,
    reason: job.reason,
    next: describeNextStep(job, now()),
    waitingFor: job.failure,
    offering,
    price: price === undefined ? null : toJobAmount(price),
    budget: toJobAmount(BigInt(onChain.budget)),
    ref: job.ref,
    client: getAddress(onChain.client),
    evaluator: getAddress(onChain.evaluator),
    expiresAt: onChain.expiresAt.toISOString(),
    deliverable: toDeliverable(job),
    payment: toJobPayment(job, commerce.merchant),
    receipt: receipt === null ? null : toReceiptResponse(receipt),
    updatedAt: now().toISOString(),
  };
}

function toJobPayment(job: ConfirmedJob, merchant: MerchantConfig): z.input<typeof JOB_REPLY>['payment'] {
  const { onChain, offering, payment, ref, service } = job;
  if (payment === null || offering === null) return null;
  return toPaymentResponse({
    channel: 'agent-commerce',
    offering,
    resource: buildJobResource(job),
    ref,
    txHash: payment.txHash,
    settledAt: payment.settledAt,
    payer: onChain.client,
    payee: service.provider,
    asset: merchant.asset,
    chain: getCaip2Network(merchant),
    amountMicros: BigInt(payment.amountMicros),
  });
}

function toDeliverable({ jobId, delivery, submission }: ConfirmedJob): z.input<typeof JOB_REPLY>['deliverable'] {
  if (delivery === null || submission === null) return null;
  const path = `${PATH.replace('{jobId}', jobId)}/deliverable`;
  return { hash: delivery.hash, txHash: submission.txHash, submittedAt: submission.at.toISOString(), path };
}

async function fetchDeliverable(deps: JobDeps, job: ConfirmedJob, signed: z.output<typeof FETCH_BODY>): Promise<Reply<never>> {
  const { jobId, onChain, service } = job;
  if (![onChain.client, onChain.evaluator].some((entitled) => isAddressEqual(entitled, signed.wallet))) {
    throw new OracleError('UNAUTHENTICATED', 'This wallet is neither the client nor the evaluator of the job', { field: 'wallet' });
  }
  const message = buildFetchMessage(service.contract, jobId, signed.timestamp);
  await requireWalletSignature(deps, { ...signed, message, template: FETCH_MESSAGE_TEMPLATE });
  const withheld = getWithheldReason(job);
  if (withheld !== null) throw new OracleError('NOT_FOUND', withheld, { field: 'jobId', suggestedAction: 'Create another job.' });
  const delivery = await service.findDelivery(BigInt(jobId));
  if (delivery === null) throw new OracleError('STEP_WAITING', 'Nothing is delivered for this job yet', { retryAfterSeconds: 5 });
  return { headers: { 'Content-Type': 'application/json; charset=utf-8' }, raw: delivery.text };
}
