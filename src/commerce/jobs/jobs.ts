import { type Address, type Hex, isAddressEqual, zeroAddress } from 'viem';
import type { OnChainJob } from '../../chain/erc8183.ts';
import { formatMoney, type MerchantConfig, type Offering, usdFromMicros } from '../offerings.ts';
import type { SignedReceipt, SignReceipt } from '../receipts.ts';
import { buildJobResource, type JobDocWithoutText } from './job-store.ts';

export interface JobPolicy {
  /** Known evaluators: their jobs are accepted at any price. */
  evaluators: readonly Address[];
  /** Maximum price with an unknown evaluator, in millionths of a US dollar; 0 rejects such jobs. */
  maxMicros: bigint;
  /** For how long an unpaid delivery to an unknown evaluator blocks the delivery slot. */
  unpaidPauseMs: number;
  /** Jobs without an evaluator; null: none. */
  direct: DirectJobPolicy | null;
}

/** Accepted but unfunded jobs per client, since each costs a transaction. Concurrent processes may exceed it slightly. */
export const MAX_OPEN_OFFERS = 20;
const MIN_TIME_TO_EXPIRY_MS = 5 * 60_000;
/** Minimum time to expiry for a delivery, which must be on chain before the job expires. */
export const MIN_DELIVERY_TIME_MS = 2 * 60_000;

export interface JobApplication {
  job: OnChainJob;
  offering: Offering;
  policy: JobPolicy;
  provider: Address;
  at: Date;
  /** The client or evaluator rejected an earlier delivery or let it expire. */
  hasUnpaid: boolean;
  offers: number;
  /** Expiry of another job's hold on the delivery slot, or null. */
  takenUntil: Date | null;
  /** Null for a job with an evaluator. */
  direct: DirectJobFacts | null;
}

/** Never the zero address, which judges nothing: jobs without an evaluator have rules of their own. */
export function isKnownEvaluator({ evaluators }: Pick<JobPolicy, 'evaluators'>, evaluator: Address): boolean {
  return !isAddressEqual(evaluator, zeroAddress) && evaluators.some((known) => isAddressEqual(known, evaluator));
}

/** Why a job is rejected, as a sentence; null for an acceptable job. */
export function findJobRejection(application: JobApplication): string | null {
  const { job, policy, provider, at, offers } = application;
  const { evaluator, hook, expiresAt } = job;
  // A job that was funded before it was seen is accepted until its delivery is impossible.
  const minTimeMs = job.state === 'FUNDED' ? MIN_DELIVERY_TIME_MS : MIN_TIME_TO_EXPIRY_MS;
  if (!isAddressEqual(hook, zeroAddress)) return 'The job has a hook, which could block it: create one with the zero address as hook.';
  if (isAddressEqual(evaluator, provider)) return 'The evaluator is the provider, which does not judge its own work: name another one.';
  if (expiresAt.getTime() - at.getTime() < minTimeMs) return 'The job expires too soon: give it more than 5 minutes.';
  if (job.state === 'OPEN' && offers >= MAX_OPEN_OFFERS) {
    return `The client has ${MAX_OPEN_OFFERS} jobs that are not funded: fund or reject one of them, then create this one again.`;
  }
  if (isKnownEvaluator(policy, evaluator)) return null;
  const { direct, offering, hasUnpaid } = application;
  if (direct === null) return findUnknownEvaluatorRejection(application);
  const reason = findDirectJobRejection(policy.direct, direct, { offering, state: job.state });
  if (reason !== null) return reason;
  if (hasUnpaid) return 'An earlier job without an evaluator, or of this client, was delivered and not paid: buy by another channel.';
  return direct.isKnownClient ? null : findSlotRejection(application);
}

/** An unknown evaluator could read the deliverable and then reject it. */
function findUnknownEvaluatorRejection(application: JobApplication): string | null {
  const { offering, policy, hasUnpaid } = application;
  if (policy.maxMicros === 0n) return 'The evaluator is unknown to this provider: name one that the offerings list.';
  if (offering.price.amount > policy.maxMicros) {
    return `The evaluator is unknown to this provider, and such jobs are accepted up to ${formatMoney(usdFromMicros(policy.maxMicros))} only.`;
  }
  if (hasUnpaid) return 'The client or the evaluator rejected an earlier delivery, or let it expire: buy by another channel.';
  return findSlotRejection(application);
}

/** A funded job waits for the slot. */
function findSlotRejection({ job, takenUntil }: JobApplication): string | null {
  if (takenUntil === null || job.state !== 'OPEN') return null;
  return `Jobs of unknown evaluators are delivered one at a time: create it again once the current one is paid, or after ${takenUntil.toISOString()}.`;
}

/** Direct jobs have no evaluator: a contract that allows them completes and pays a job with its submission. ERC-8183 itself does not. */
interface DirectJobPolicy {
  /** keccak256 of the runtime code of contracts, and of implementations behind proxies, that pay with the submission. */
  codeHashes: readonly Hex[];
  /** Maximum price, in millionths of a US dollar. */
  maxMicros: bigint;
  /** Jobs at a time of all clients without a paid job, over the last hour. Concurrent processes may exceed it slightly. */
  maxOpen: number;
}

export interface DirectJobFacts {
  isKnownCode: boolean;
  /** The client has paid a job before. */
  isKnownClient: boolean;
  openJobs: number;
}

export function isDirectJob({ evaluator }: Pick<OnChainJob, 'evaluator'>): boolean {
  return isAddressEqual(evaluator, zeroAddress);
}

/** Why a job without an evaluator is rejected, as a sentence; null for an acceptable one. */
function findDirectJobRejection(
  policy: DirectJobPolicy | null,
  { isKnownCode, isKnownClient, openJobs }: DirectJobFacts,
  { offering, state }: { offering: Offering; state: OnChainJob['state'] },
): string | null {
  if (policy === null) return 'The job has no evaluator and could never be completed: name one.';
  if (!isKnownCode)
    return 'The job has no evaluator, and the code of the contract is none that is known to pay such a job: name an evaluator.';
  if (offering.price.amount > policy.maxMicros)
    return `Jobs without an evaluator are accepted up to ${formatMoney(usdFromMicros(policy.maxMicros))} only.`;
  // A funded job has cost its client the price.
  if (isKnownClient || state !== 'OPEN' || openJobs < policy.maxOpen) return null;
  return `New clients have ${policy.maxOpen} jobs without an evaluator at a time: create it again in an hour, or name an evaluator.`;
}

/** Message that client or evaluator sign (EIP-191) to fetch the deliverable: the contract in any case, the timestamp exactly as in the request. */
export function buildFetchMessage(contract: string, jobId: string, timestamp: number): string {
  return `Fetch svc job: ${contract}:${jobId}:${timestamp}`;
}

type JobProgress = Pick<JobDocWithoutText, 'accepted' | 'onChain'>;

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

/** Why the deliverable is withheld for good; null while it is or will be available. */
export function getWithheldReason({ accepted, reason, onChain }: JobProgress & Pick<JobDocWithoutText, 'reason'>): string | null {
  if (onChain?.state === 'REJECTED') return 'The job was rejected: its deliverable is no longer available';
  if (onChain?.state === 'EXPIRED') return 'The job has expired: its deliverable is no longer available';
  return accepted === false ? `The job was declined: ${reason}` : null;
}

/** The receipt of a paid job; null before payment. */
export async function signJobReceipt(
  { contract, jobId, delivery, payment, onChain }: Pick<JobDocWithoutText, 'contract' | 'jobId' | 'payment' | 'onChain' | 'delivery'>,
  { merchant, signReceipt, provider }: { merchant: Pick<MerchantConfig, 'asset'>; signReceipt: SignReceipt; provider: Address },
): Promise<SignedReceipt | null> {
  if (payment === null || delivery === null || onChain === null) return null;
  return signReceipt({
    payer: onChain.client,
    payee: provider,
    asset: merchant.asset,
    amountMicros: BigInt(payment.amountMicros),
    resource: buildJobResource({ contract, jobId }),
    answerHash: delivery.hash,
    forecastId: delivery.forecastId,
    attestationUid: delivery.attestationUid,
    txHash: payment.txHash,
    settledAt: payment.settledAt,
  });
}
