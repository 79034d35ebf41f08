import type { Address } from 'viem';
import type { Channel } from './channels.ts';
import type { JobPolicy } from './jobs/job-policy.ts';
import { getCaip2Network, type MerchantConfig } from './merchant-config.ts';
import { formatMoney, usdFromMicros } from './money.ts';
import type { Offering } from './offerings.ts';
import type { SignatureRule } from './purchases/buyer-check.ts';
import { getPurchaseMessageTemplate } from './purchases/purchase.ts';

/** Where the money for something goes, and how it gets there. */
export interface PaymentInstructions {
  /** Wallet to pay to; of a job its provider. Null while the channel is closed. */
  payee: Address | null;
  /** CAIP-2. */
  chain: string;
  /** The stablecoin. */
  asset: Address;
  /** ERC-8183 contract that holds the money of a job; null for every other channel, and while it is closed. */
  contract: Address | null;
  /** What proves a claim of a transfer to be its payer's; null for other channels. */
  signature: ClaimSignature | null;
  /** What the buyer does, in order. */
  steps: string[];
}

/** Contract and provider of agent commerce. */
export interface JobProvider {
  contract: Address;
  provider: Address;
  policy: Pick<JobPolicy, 'evaluators' | 'maxMicros'>;
}

const STEPS: Record<Exclude<Channel, 'purchase'>, readonly string[]> = {
  x402: [
    'Send the request: it is answered with 402 and the terms.',
    'Sign the payment they ask for, and send the request again with it. Nothing is charged unless it is answered.',
  ],
  'agent-commerce': [
    'createJob(payee, evaluator, expiredAt, description, zero address) on the contract: the expiry is more than 5 minutes ahead, the description is the JSON of the example; it may also have "ref", a ref code.',
    'Wait until GET /api/svc/commerce/jobs/{jobId} says that it is accepted and the budget is the price; where it is refused, it says why.',
    'approve(contract, price) on the asset, then fund(jobId, price, 0x) on the contract.',
    'Once it is SUBMITTED, POST to /api/svc/commerce/jobs/{jobId}/deliverable with a signature, and compare the keccak256 of the bytes with the job on chain.',
    'The evaluator calls complete(jobId, reason, 0x), which pays the provider, or reject, which gives the money back and ends the right to fetch. Whoever rejects deliveries or lets them expire is not served again.',
  ],
};

/** What the buyer of a purchase signs, besides the transfer. */
export interface ClaimSignature {
  /** False where an unsigned claim is delivered too, to the address that makes it first. */
  required: boolean;
  /** The text to sign, with `<txHash in lower case>` in place of the hash. */
  message: string;
  scheme: 'EIP-191';
}

function formatPurchaseSteps({ required, message }: ClaimSignature): string[] {
  const rule = required ? 'A claim without this signature is answered 402' : 'Optional here, and recommended';
  return [
    `Pay from a wallet that can sign a text: its claim is signed afterwards. ${required ? 'Nothing is delivered without.' : ''}`.trim(),
    'Transfer the price in the asset to the payee, from the wallet that buys.',
    `Sign "${message}" (EIP-191; contract wallets by EIP-1271) with that wallet. ${rule}: everybody can read the transfer on chain.`,
    'POST offering, txHash, wallet and signature to /api/svc/commerce/purchase within 24 hours. 503 with Retry-After: the transfer is not confirmed yet, send the same again.',
  ];
}

function formatEvaluatorStep({ evaluators, maxMicros }: JobProvider['policy']): string {
  const known = evaluators.join(', ');
  if (maxMicros === 0n)
    return `Choose an evaluator, who judges what is delivered: ${known || 'none is known here'}. Jobs with another one are refused.`;
  const others = `Jobs of any other wallet, which may be your own, are taken up to ${formatMoney(usdFromMicros(maxMicros))} and delivered one at a time.`;
  return `Choose an evaluator, who judges what is delivered. ${known && `Known here: ${known}. `}${others}`;
}

export interface PaymentInstructionOptions {
  merchant: MerchantConfig;
  /** Null where none are taken. */
  jobs: JobProvider | null;
  /** Whether a claim of a transfer needs the signature of its payer. */
  signatures: SignatureRule;
  open: boolean;
}

/** How an offering is paid for. */
export function getPaymentInstructions(
  { channel, name }: Pick<Offering, 'channel' | 'name'>,
  { merchant, jobs, signatures, open }: PaymentInstructionOptions,
): PaymentInstructions {
  const jobProvider = channel === 'agent-commerce' ? jobs : null;
  const payee = channel === 'agent-commerce' ? (jobs?.provider ?? null) : merchant.payee;
  const signature = channel === 'purchase' ? getClaimSignature(name, signatures) : null;
  return {
    payee: open ? payee : null,
    chain: getCaip2Network(merchant),
    asset: merchant.asset,
    contract: open ? (jobProvider?.contract ?? null) : null,
    signature,
    steps: [
      ...(jobProvider === null ? [] : [formatEvaluatorStep(jobProvider.policy)]),
      ...(signature === null ? STEPS[channel as Exclude<Channel, 'purchase'>] : formatPurchaseSteps(signature)),
    ],
  };
}

function getClaimSignature(offering: string, signatures: SignatureRule): ClaimSignature {
  return { required: signatures === 'required', message: getPurchaseMessageTemplate(offering), scheme: 'EIP-191' };
}

/** What else there is for a caller without the tier: a sentence, empty where single answers are not sold. */
export function formatSingleAnswerHint(offering: Pick<Offering, 'price' | 'resource'> | null | undefined): string {
  if (!offering?.resource) return '';
  const { method, path } = offering.resource;
  return `Or pay ${formatMoney(offering.price)} for a single answer, without an account: ${method} ${path}?horizon=7d.`;
}
