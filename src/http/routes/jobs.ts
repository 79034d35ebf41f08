import { getAddress, isAddressEqual } from 'viem';
import { z } from 'zod';
import type { RequestContext } from '../../auth/auth.ts';
import { listAddressSpellings } from '../../chain/addresses.ts';
import { JOB_STATES } from '../../chain/erc8183.ts';
import { buildJobResource, type JobDocWithoutText } from '../../commerce/jobs/job-store.ts';
import { isDirectJob } from '../../commerce/jobs/jobs.ts';
import type { JobService } from '../../commerce/jobs/processing.ts';
import { REF_CODE_PATTERN, REF_CODE_RULE } from '../../commerce/ledger.ts';
import { findOffering, formatAmount, getCaip2Network, OFFERINGS, usdFromMicros } from '../../commerce/offerings.ts';
import { toPaymentResponse, toReceiptResponse } from '../../commerce/receipt-signer.ts';
import { OracleError } from '../../errors.ts';
import {
  ADDRESS,
  BYTES32,
  DECIMAL,
  INTEGER_TEXT,
  namedObject,
  nullableObjectOf,
  objectOf,
  SUCCESS,
  TIME,
} from '../../platform/validation.ts';
import { rawWalletInput, signatureInput } from '../parameters.ts';
import { type Route, route } from '../route.ts';
import {
  ALPHA_BRIEF,
  ANALYSIS_REPORT,
  BITCOIN_SIGNAL,
  CROWD_VS_ORACLE,
  DAILY_MACRO_REVIEW,
  MARKET_CONTEXT_DOCUMENT,
  SIGNAL_WITH_PROOF,
  VERIFIED_TRACK_RECORD,
} from '../schemas/documents.ts';
import { PAYMENT, RECEIPT, SOLD } from '../schemas/payment.ts';
import type { Services } from '../services.ts';
import { LOGIN_BODY, requireWalletSignature } from './auth.ts';

const PATH = '/api/svc/commerce/jobs/{jobId}';

const FETCH_MESSAGE_TEMPLATE = 'Fetch svc job: <contract>:<jobId>:<timestamp>';

/** ERC-8183 jobs (interface, section 2.8): status and deliverable. */
export function jobRoutes(deps: Services): Route[] {
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
      body: z.strictObject({ wallet: rawWalletInput, timestamp: LOGIN_BODY.shape.timestamp, signature: signatureInput }),
      reply: DELIVERY,
      errors: ['UNAUTHENTICATED', 'NOT_FOUND', 'STEP_WAITING', 'TRANSACTION_UNCONFIRMED', 'CHAIN_UNREACHABLE'],
      async handle({ params, body: signed, context }) {
        const job = await requireJob(deps, params.jobId, context);
        const { jobId, onChain, service } = job;
        if (![onChain.client, onChain.evaluator].some((entitled) => isAddressEqual(entitled, signed.wallet))) {
          throw new OracleError('UNAUTHENTICATED', 'This wallet is neither the client nor the evaluator of the job', { field: 'wallet' });
        }
        const message = listAddressSpellings(service.contract).map((contract) => buildFetchMessage(contract, jobId, signed.timestamp));
        await requireWalletSignature(deps, { ...signed, message, template: FETCH_MESSAGE_TEMPLATE });
        const withheld = getWithheldReason(job);
        if (withheld !== null) throw new OracleError('NOT_FOUND', withheld, { field: 'jobId', suggestedAction: 'Create another job.' });
        const delivery = await service.findDelivery(BigInt(jobId));
        if (delivery === null) throw new OracleError('STEP_WAITING', 'Nothing is delivered for this job yet', { retryAfterSeconds: 5 });
        return { headers: { 'Content-Type': 'application/json; charset=utf-8' }, raw: delivery.text };
      },
    }),
  ];
}

/** Message that client or evaluator sign (EIP-191) to fetch the deliverable: the contract in any case, the timestamp exactly as in the request. */
export function buildFetchMessage(contract: string, jobId: string, timestamp: number): string {
  return `Fetch svc job: ${contract}:${jobId}:${timestamp}`;
}

type JobProgress = Pick<JobDocWithoutText, 'accepted' | 'onChain'>;

/** Why the deliverable is withheld for good; null while it is or will be available. */
export function getWithheldReason({ accepted, reason, onChain }: JobProgress & Pick<JobDocWithoutText, 'reason'>): string | null {
  if (onChain?.state === 'REJECTED') return 'The job was rejected: its deliverable is no longer available';
  if (onChain?.state === 'EXPIRED') return 'The job has expired: its deliverable is no longer available';
  return accepted === false ? `The job was declined: ${reason}` : null;
}

type ConfirmedJob = JobDocWithoutText & { onChain: NonNullable<JobDocWithoutText['onChain']>; service: JobService };

async function requireJob({ jobs, commerce }: Services, jobId: string, context: RequestContext): Promise<ConfirmedJob> {
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

async function toJobReply({ commerce, now }: Services, job: ConfirmedJob): Promise<z.input<typeof JOB_REPLY>> {
  const { onChain, offering, payment, service, delivery, submission } = job;
  const { merchant } = commerce;
  const price = offering === null ? undefined : findOffering('agent-commerce', offering)?.price.amount;
  const receipt = await service.getReceipt(job, commerce);
  return {
    success: true,
    jobId: job.jobId,
    contract: service.contract,
    chain: getCaip2Network(merchant),
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
    deliverable:
      delivery === null || submission === null
        ? null
        : {
            hash: delivery.hash,
            txHash: submission.txHash,
            submittedAt: submission.at.toISOString(),
            path: `${PATH.replace('{jobId}', job.jobId)}/deliverable`,
          },
    payment:
      payment === null || offering === null
        ? null
        : toPaymentResponse({
            channel: 'agent-commerce',
            offering,
            resource: buildJobResource(job),
            ref: job.ref,
            txHash: payment.txHash,
            settledAt: payment.settledAt,
            payer: onChain.client,
            payee: service.provider,
            asset: merchant.asset,
            chain: getCaip2Network(merchant),
            amountMicros: BigInt(payment.amountMicros),
          }),
    receipt: receipt === null ? null : toReceiptResponse(receipt),
    updatedAt: now().toISOString(),
  };
}

export function describeNextStep({ accepted, onChain }: JobProgress, now: Date): string {
  const { state = 'OPEN', expiresAt = now } = onChain ?? {};
  const isExpired = expiresAt <= now;
  if (state === 'COMPLETED') return 'Nothing: the job is paid.';
  if (state === 'REJECTED' || state === 'EXPIRED') return 'Nothing: the job is over, and the escrow was refunded to the client.';
  if (state === 'SUBMITTED' && onChain !== null && isDirectJob(onChain))
    return isExpired ? REFUND_STEP : 'Nothing: the contract should have paid the provider with the submission, and has not.';
  if (state === 'SUBMITTED')
    return isExpired ? REFUND_STEP : 'The evaluator fetches the deliverable, compares its hash, and calls complete.';
  if (state === 'FUNDED') {
    if (accepted === false)
      return isExpired ? REFUND_STEP : 'The evaluator rejects the job, or the client calls claimRefund after its expiry.';
    return 'The provider composes the deliverable and submits its hash.';
  }
  if (isExpired) return 'Nothing: the job has expired before it was funded. Create a new one.';
  if (accepted === false) return 'The client rejects the job and creates another one without the fault.';
  if (accepted === null) return 'The provider reviews the job.';
  return 'The client approves the price for the contract, then calls fund once the provider has set the budget.';
}

const REFUND_STEP = 'Any account may call claimRefund, which refunds the client.';

/** A uint256. */
const JOB_PARAMS = z.object({
  jobId: z
    .string()
    .regex(/^(0|[1-9]\d{0,77})$/, 'must be a whole number, as the contract numbers its jobs')
    .describe('Job id in the contract'),
});

const PRICE = namedObject('JobPrice', {
  amount: INTEGER_TEXT.describe('Smallest units of the stablecoin, as digits'),
  usd: DECIMAL.describe('The same in USD, an exact decimal'),
});

export const JOB_REPLY = z.object({
  success: SUCCESS,
  jobId: INTEGER_TEXT.describe('Job id in the contract'),
  contract: ADDRESS.describe('ERC-8183 contract'),
  chain: z.string().describe('Chain, CAIP-2, e.g. eip155:8453'),
  provider: ADDRESS.describe('Provider wallet of this service'),
  state: z.enum(JOB_STATES).describe('State on chain, at the confirmation depth'),
  accepted: z.boolean().nullable().describe('Whether the job is accepted; null until decided'),
  reason: z.string().nullable().describe('Reason for the rejection; null otherwise'),
  next: z.string().describe('Next step, and the actor of it'),
  waitingFor: z
    .string()
    .nullable()
    .describe('Error code that delays the provider, which retries, e.g. STEP_WAITING while it serves another job; null otherwise'),
  offering: z.string().nullable().describe('Requested offering; null where the description names none'),
  price: PRICE.nullable().describe('Price; null without an offering'),
  budget: PRICE.describe('Budget of the job in the contract'),
  ref: z.string().nullable().describe('Ref code of the partner; null without one'),
  client: ADDRESS.describe('Client, which created the job'),
  evaluator: ADDRESS.describe('Evaluator, which completes or rejects it'),
  expiresAt: TIME.describe('Expiry, at most the end of year 9999; after it the client is refunded unless the job is completed'),
  deliverable: nullableObjectOf('Deliverable without its content; null before submission', {
    hash: BYTES32.describe('keccak256 of the delivered bytes; `deliverable` on chain'),
    txHash: BYTES32.describe('Submission transaction'),
    submittedAt: TIME.describe('Block time'),
    path: z.string().describe('Path of the deliverable, for client and evaluator'),
  }),
  payment: PAYMENT.nullable().describe('Payment by the client through the contract on completion, net of contract fees; null before'),
  receipt: RECEIPT.nullable().describe(
    'Receipt, signed by the provider after payment; `answerHash` is the keccak256 of the delivered bytes; null before',
  ),
  updatedAt: TIME.describe('When the database was read; the chain is polled every few seconds'),
});

/** The bytes are canonical JSON (RFC 8785) in UTF-8; their keccak256 is the job's `deliverable` on chain. */
export const DELIVERY = namedObject('Delivery', {
  kind: z.literal('agent-commerce-delivery').describe('Document type'),
  job: objectOf('Job', {
    chain: z.string().describe('Chain of the contract, CAIP-2'),
    contract: ADDRESS.describe('ERC-8183 contract'),
    jobId: INTEGER_TEXT.describe('Job id'),
    client: ADDRESS.describe('Client, which created the job'),
    evaluator: ADDRESS.describe('Evaluator, which completes or rejects it'),
    provider: ADDRESS.describe('Provider wallet of this service, which submitted the hash of these bytes'),
  }),
  offering: z.string().describe('Requested offering'),
  title: z.string().describe('Display name'),
  price: z.string().describe('Price, e.g. 1.00 USD'),
  composedAt: TIME.describe('When it was composed'),
  forecastId: z.string().nullable().describe('Included forecast; null where none is'),
  attestationUid: BYTES32.nullable().describe('UID of its attestation; null where there is none'),
  document: z
    .discriminatedUnion('kind', [BITCOIN_SIGNAL, MARKET_CONTEXT_DOCUMENT, CROWD_VS_ORACLE])
    .describe('Document of the offering, by `kind`'),
  salt: BYTES32.describe('Random salt: the hash of these bytes is public, and must not be guessable'),
});

/** Interface, sections 2.8 and 4.5. */
export function purchaseRoutes({ purchases }: Services): Route[] {
  return [
    route('POST /api/svc/commerce/purchase', 'buyOffering', {
      tag: 'commerce',
      cost: 'rpc',
      deliversPaid: true,
      summary: 'Buys a document with a stablecoin transfer',
      description:
        'Transfer the price to the payee, then send the transaction hash. The payment is verified on chain: asset, recipient, sender, amount, age and depth. A transaction buys one document, once; the same request returns the same document at any later time, also where composing it failed at first. On a real chain the paying wallet signs the claim: without a signature the response is 402 with the text to sign as `signMessage`. A transfer that the node has not seen or confirmed answers 402 `TRANSFER_UNCONFIRMED` with `Retry-After`: send the same request again. Where no signature is required, an unsigned claim is redelivered only to the address of its first request.',
      body: PURCHASE_BODY,
      reply: PURCHASE_REPLY,
      errors: [
        'UNAUTHENTICATED',
        'PAYMENT_REQUIRED',
        'TRANSFER_UNCONFIRMED',
        'CHAIN_UNREACHABLE',
        'SIGNER_UNAVAILABLE',
        'STEP_WAITING',
        'PRICE_UNAVAILABLE',
        'FEED_UNAVAILABLE',
        'CONFLICT',
      ],
      async handle({ body, context }) {
        const { deliveredAt, document, payment, receipt, ...delivered } = await purchases.buy(body, context);
        const { offering } = delivered;
        return {
          body: {
            success: true as const,
            ...delivered,
            deliveredAt: deliveredAt.toISOString(),
            // Stored as text, since the receipt signs its bytes.
            document: document as z.input<typeof DOCUMENT>,
            payment: toPaymentResponse({ ...payment, channel: 'purchase', offering, resource: receipt.message.resource }),
            receipt: toReceiptResponse(receipt),
          },
        };
      },
    }),
  ];
}

export const PURCHASE_OFFERINGS = OFFERINGS.filter(({ channel }) => channel === 'purchase').map(({ name }) => name) as [
  string,
  ...string[],
];

const PURCHASE_BODY = z
  .strictObject({
    offering: z
      .enum(PURCHASE_OFFERINGS, { error: `must be one of ${PURCHASE_OFFERINGS.join(', ')}` })
      .describe('Offering to buy; `GET /api/svc/commerce/offerings?channel=purchase` lists them'),
    txHash: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
      .transform((text) => text as `0x${string}`)
      .meta({
        description: 'Hash of the payment: a stablecoin transfer from `wallet` to the payee, at most 24 hours old',
        override: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
      }),
    wallet: rawWalletInput.describe("Buyer's wallet, sender of the transfer; in mixed case its EIP-55 checksum must be valid"),
    signature: signatureInput
      .optional()
      .describe(
        'Signature of the wallet over `Buy svc offering: <offering>:<txHash in lower case>` (EIP-191, EIP-1271, ERC-6492). Required on a real chain (`howToPay.signature.required` of the offering), and after a first signed claim of this transaction: without it the response is 402 with the text as `signMessage`',
      ),
    ref: z.string().regex(REF_CODE_PATTERN, `must have ${REF_CODE_RULE}`).optional().describe(`Ref code of the partner: ${REF_CODE_RULE}`),
  })
  .meta({
    examples: [{ offering: 'svc_daily_macro_review', txHash: `0x${'0'.repeat(64)}`, wallet: '0xa4510Be758e35c58cb09D0F558850000d2011bFf' }],
  });

const DOCUMENT = z.discriminatedUnion('kind', [
  SIGNAL_WITH_PROOF,
  VERIFIED_TRACK_RECORD,
  ANALYSIS_REPORT,
  CROWD_VS_ORACLE,
  DAILY_MACRO_REVIEW,
  ALPHA_BRIEF,
]);

export const PURCHASE_REPLY = z.object({
  success: SUCCESS,
  offering: z.enum(PURCHASE_OFFERINGS).describe('Side bought'),
  title: z.string().describe('Title'),
  deliveredAt: TIME.describe('Time of the first delivery'),
  again: z.boolean().describe('True for a redelivery: each transaction buys one document, once'),
  document: DOCUMENT.describe('The document; `kind` is the offering name without `svc_`'),
  ...SOLD,
});
