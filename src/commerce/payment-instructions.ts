import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hash } from 'viem';
import { OracleError } from '../errors.ts';
import type { JobPolicy } from './jobs/jobs.ts';
import { type Channel, formatMoney, getCaip2Network, type MerchantConfig, type Offering, usdFromMicros } from './offerings.ts';

/** Message that the buyer of a purchase signs (EIP-191): hash and sender are public on chain, the key is not. */
export function buildPurchaseMessage(offering: string, txHash: Hash): string {
  return `Buy svc offering: ${offering}:${txHash.toLowerCase()}`;
}

export type SignatureRule = 'optional' | 'required';

interface JobProvider {
  contract: Address;
  provider: Address;
  policy: Pick<JobPolicy, 'evaluators' | 'maxMicros' | 'direct'>;
}

const STEPS: Record<Exclude<Channel, 'purchase'>, readonly string[]> = {
  x402: [
    'Send the request. The response is 402 with the terms.',
    'Sign the payment and repeat the request with it. You are charged only if it is answered.',
  ],
  'agent-commerce': [
    'createJob(payee, evaluator, expiredAt, description, zero address) on the contract: the expiry must be more than 5 minutes ahead, the description is the JSON of the example, optionally with "ref", a ref code.',
    'Wait until GET /api/svc/commerce/jobs/{jobId} reports it as accepted with the price as budget; for a rejected job it gives the reason.',
    'approve(contract, price) on the asset, then fund(jobId, price, 0x) on the contract.',
    'Once it is SUBMITTED, POST to /api/svc/commerce/jobs/{jobId}/deliverable with a signature, and compare the keccak256 of the bytes with the job on chain.',
    'The evaluator calls complete(jobId, reason, 0x), which pays the provider, or reject, which refunds the client and ends access to the deliverable. Clients and evaluators that reject deliveries or let them expire are not served again with an unknown evaluator.',
  ],
};

interface ClaimSignature {
  /** When false, an unsigned claim is delivered to the client address that makes it first. */
  required: boolean;
  /** Message to sign, with the placeholder `<txHash in lower case>`. */
  message: string;
  scheme: 'EIP-191';
}

function formatPurchaseSteps({ required, message }: ClaimSignature): string[] {
  const rule = required ? 'A claim without this signature is answered 402' : 'Optional here, and recommended';
  return [
    `Pay from a wallet that can sign a message: it signs the claim afterwards. ${required ? 'Without the signature nothing is delivered.' : ''}`.trim(),
    'Transfer the price in the asset to the payee, from the wallet that buys.',
    `Sign "${message}" (EIP-191; contract wallets by EIP-1271) with that wallet. ${rule}: the transfer is public on chain.`,
    'POST offering, txHash, wallet and signature to /api/svc/commerce/purchase within 24 hours. 503 with Retry-After: the transfer is not confirmed yet; repeat the request.',
  ];
}

function formatDirectRule({ direct }: JobProvider['policy']): string {
  if (direct === null) return '';
  const price = formatMoney(usdFromMicros(direct.maxMicros));
  return ` A job without an evaluator (the zero address), which the contract pays with its submission, is taken up to ${price}, while the code of the contract is a known one; those of clients that have not paid a job before are delivered one at a time.`;
}

function formatEvaluatorRule({ evaluators, maxMicros }: JobProvider['policy']): string {
  const known = evaluators.join(', ');
  if (maxMicros === 0n)
    return `Choose an evaluator, who judges what is delivered: ${known || 'none is known here'}. Jobs with another one are refused.`;
  const others = `Jobs of any other wallet, which may be your own, are taken up to ${formatMoney(usdFromMicros(maxMicros))} and delivered one at a time.`;
  return `Choose an evaluator, who judges what is delivered. ${known && `Known here: ${known}. `}${others}`;
}

/** @param jobs null when jobs are disabled */
export function getPaymentInstructions(
  { channel, name }: Pick<Offering, 'channel' | 'name'>,
  { merchant, jobs, signatures, open }: { merchant: MerchantConfig; jobs: JobProvider | null; signatures: SignatureRule; open: boolean },
) {
  const jobProvider = channel === 'agent-commerce' ? jobs : null;
  const payee = channel === 'agent-commerce' ? (jobs?.provider ?? null) : merchant.payee;
  const claim = {
    required: signatures === 'required',
    message: `Buy svc offering: ${name}:<txHash in lower case>`,
    scheme: 'EIP-191',
  } as const;
  const signature = channel === 'purchase' ? claim : null;
  return {
    /** For a job its provider. Null while the channel is closed. */
    payee: open ? payee : null,
    chain: getCaip2Network(merchant),
    asset: merchant.asset,
    /** ERC-8183 escrow contract of a job; null for other channels, and while the channel is closed. */
    contract: open ? (jobProvider?.contract ?? null) : null,
    /** Authenticates the payer of a purchase; null for other channels. */
    signature,
    steps: [
      ...(jobProvider === null ? [] : [formatEvaluatorRule(jobProvider.policy) + formatDirectRule(jobProvider.policy)]),
      ...(signature === null ? STEPS[channel as Exclude<Channel, 'purchase'>] : formatPurchaseSteps(signature)),
    ],
  };
}

/** Sentence on the paid alternative for a caller without the tier; empty when the answer is not sold. */
export function formatSingleAnswerHint(offering: Pick<Offering, 'price' | 'resource'> | null | undefined): string {
  if (!offering?.resource) return '';
  const { method, path } = offering.resource;
  return `Or pay ${formatMoney(offering.price)} for a single answer, without an account: ${method} ${path}?horizon=7d.`;
}

/** Pauses a poll for a payment. @throws OracleError SHUTTING_DOWN when the signal aborts */
export async function sleepOrShutdown(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping; repeat the request with the same payment', { cause });
  }
}
