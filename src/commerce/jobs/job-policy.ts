import { type Address, isAddressEqual, zeroAddress } from 'viem';
import type { OnChainJob } from '../../chain/erc8183/jobs.ts';
import { formatMoney, usdFromMicros } from '../money.ts';
import type { Offering } from '../offerings.ts';

/** Whose jobs are taken. */
export interface JobPolicy {
  /** Evaluators whose jobs are taken at any price. */
  evaluators: readonly Address[];
  /** Most that a job of another evaluator may cost, in millionths of a US dollar; 0 takes none. */
  maxMicros: bigint;
  /** For how long a delivery that another evaluator does not pay for keeps all others of them waiting. */
  unpaidPauseMs: number;
}

/** Jobs of one client that may wait for their money: each costs a transaction. Processes and jobs at once may exceed it by a few. */
export const MAX_OPEN_OFFERS = 20;

/** Time before its expiry that a job must still have when it is taken on. */
export const MIN_TIME_TO_EXPIRY_MS = 5 * 60_000;
/** Time before its expiry after which nothing is delivered any more: it might not be on chain in time. */
export const MIN_DELIVERY_TIME_MS = 2 * 60_000;

export interface JobApplication {
  job: OnChainJob;
  offering: Offering;
  policy: JobPolicy;
  provider: Address;
  at: Date;
  /** Whether the client or the evaluator has let an earlier delivery go unpaid. */
  hasUnpaid: boolean;
  /** Jobs of the client that are taken on and not funded. */
  offers: number;
  /** Until when it is the turn of another job whose evaluator is not known; null when it is not. */
  takenUntil: Date | null;
}

export function isKnownEvaluator({ evaluators }: Pick<JobPolicy, 'evaluators'>, evaluator: Address): boolean {
  return evaluators.some((known) => isAddressEqual(known, evaluator));
}

/** Why a job is not taken on, as a sentence; null when it is. */
export function findJobRejection(application: JobApplication): string | null {
  const { job, policy, provider, at, offers } = application;
  const { evaluator, hook, expiresAt } = job;
  if (!isAddressEqual(hook, zeroAddress))
    return 'The job has a hook, which could stop it half-way: create one with the zero address as hook.';
  if (isAddressEqual(evaluator, zeroAddress)) return 'The job has no evaluator, so that nobody could complete it.';
  if (isAddressEqual(evaluator, provider)) return 'The evaluator is the provider, who does not judge his own work: name another one.';
  if (expiresAt.getTime() - at.getTime() < getMinTimeMs(job)) return 'The job expires too soon: give it more than 5 minutes.';
  if (job.state === 'OPEN' && offers >= MAX_OPEN_OFFERS) {
    return `The client has ${MAX_OPEN_OFFERS} jobs that are not funded: fund or reject one of them, then create this one again.`;
  }
  return isKnownEvaluator(policy, evaluator) ? null : findUnknownEvaluatorRejection(application);
}

/** Nobody vouches for this evaluator: he can read what he is given, and reject it. */
function findUnknownEvaluatorRejection({ job, offering, policy, hasUnpaid, takenUntil }: JobApplication): string | null {
  if (policy.maxMicros === 0n) return 'The evaluator is not one that this provider knows: name one that the offerings list.';
  if (offering.price.amount > policy.maxMicros) {
    return `The evaluator is not one that this provider knows, and jobs of others are taken up to ${formatMoney(usdFromMicros(policy.maxMicros))} only.`;
  }
  if (hasUnpaid) return 'The client or the evaluator rejected an earlier delivery, or let it expire: buy by another channel.';
  // With the money in escrow it waits.
  if (takenUntil === null || job.state !== 'OPEN') return null;
  return `Jobs whose evaluator is not one that this provider knows are served one at a time: create it again once the other one is paid, or after ${takenUntil.toISOString()}.`;
}

/** One that was funded before it was seen is served as long as it can be. */
function getMinTimeMs({ state }: OnChainJob): number {
  return state === 'FUNDED' ? MIN_DELIVERY_TIME_MS : MIN_TIME_TO_EXPIRY_MS;
}
