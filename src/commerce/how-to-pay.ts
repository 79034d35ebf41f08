import type { Address } from 'viem';
import type { Channel } from './channel.ts';
import type { JobPolicy } from './jobs/policy.ts';
import { displayMoney, usdOf } from './money.ts';
import type { Offering } from './offerings.ts';
import { networkOf, type Till } from './till.ts';

/** Where the money for something goes, and how it gets there. */
export interface HowToPay {
  /** Wallet to pay to; of a job its provider. Null while the channel is closed. */
  payee: Address | null;
  /** CAIP-2. */
  chain: string;
  /** The stablecoin. */
  asset: Address;
  /** ERC-8183 contract that holds the money of a job; null for every other channel, and while it is closed. */
  contract: Address | null;
  /** What the buyer does, in order. */
  steps: string[];
}

/** Contract and provider of agent commerce. */
export interface JobAddresses {
  contract: Address;
  provider: Address;
  policy: Pick<JobPolicy, 'evaluators' | 'maxMicros'>;
}

const STEPS: Record<Channel, readonly string[]> = {
  purchase: [
    'Transfer the price in the asset to the payee, from the wallet that buys.',
    'POST offering, txHash and wallet to /api/svc/commerce/purchase within 24 hours, signed where the service asks for it.',
  ],
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

function evaluatorStep({ evaluators, maxMicros }: JobAddresses['policy']): string {
  const known = evaluators.join(', ');
  if (maxMicros === 0n)
    return `Choose an evaluator, who judges what is delivered: ${known || 'none is known here'}. Jobs with another one are refused.`;
  const others = `Jobs of any other wallet, which may be your own, are taken up to ${displayMoney(usdOf(maxMicros))} and delivered one at a time.`;
  return `Choose an evaluator, who judges what is delivered. ${known && `Known here: ${known}. `}${others}`;
}

/** How something of a channel is paid for. `jobs` is null where none are taken. */
export function howToPay(channel: Channel, { till, jobs, open }: { till: Till; jobs: JobAddresses | null; open: boolean }): HowToPay {
  const ofJobs = channel === 'agent-commerce' ? jobs : null;
  const payee = channel === 'agent-commerce' ? (jobs?.provider ?? null) : till.payee;
  return {
    payee: open ? payee : null,
    chain: networkOf(till),
    asset: till.asset,
    contract: open ? (ofJobs?.contract ?? null) : null,
    steps: [...(ofJobs === null ? [] : [evaluatorStep(ofJobs.policy)]), ...STEPS[channel]],
  };
}

/** What else there is for a caller without the tier: a sentence, empty where single answers are not sold. */
export function orPay(offering: Pick<Offering, 'price' | 'resource'> | null | undefined): string {
  if (!offering?.resource) return '';
  const { method, path } = offering.resource;
  return `Or pay ${displayMoney(offering.price)} for a single answer, without an account: ${method} ${path}?horizon=7d.`;
}
