import { type Address, isAddressEqual, zeroAddress } from 'viem';
import type { Job } from '../../chain/agent-commerce.ts';
import { displayMoney, usdOf } from '../money.ts';
import type { Offering } from '../offerings.ts';

/** Whose jobs are taken. */
export interface JobPolicy {
  /** Evaluators whose jobs are taken at any price. */
  evaluators: readonly Address[];
  /** Most that a job of another evaluator may cost, in millionths of a US dollar. */
  maxMicros: bigint;
}

/** Time before its expiry that a job must still have when it is taken on. */
export const LEAST_TIME_MS = 5 * 60_000;
/** Time before its expiry after which nothing is delivered any more: it might not be on chain in time. */
export const LAST_DELIVERY_MS = 2 * 60_000;

export interface Application {
  job: Job;
  offering: Offering;
  policy: JobPolicy;
  provider: Address;
  at: Date;
  /** Whether the evaluator has let an earlier delivery go unpaid. */
  hasUnpaid: boolean;
}

/** Why a job is not taken on, as a sentence; null when it is. */
export function refusalOf({ job, offering, policy, provider, at, hasUnpaid }: Application): string | null {
  const { evaluator, hook, expiresAt } = job;
  if (!isAddressEqual(hook, zeroAddress))
    return 'The job has a hook, which could stop it half-way: create one with the zero address as hook.';
  if (isAddressEqual(evaluator, zeroAddress)) return 'The job has no evaluator, so that nobody could complete it.';
  if (isAddressEqual(evaluator, provider)) return 'The evaluator is the provider, who does not judge his own work: name another one.';
  if (expiresAt.getTime() - at.getTime() < leastTimeMs(job)) return 'The job expires too soon: give it more than 5 minutes.';
  if (policy.evaluators.some((known) => isAddressEqual(known, evaluator))) return null;
  if (offering.price.amount > policy.maxMicros) {
    return `The evaluator is not one that this provider knows, and jobs of others are taken up to ${displayMoney(usdOf(policy.maxMicros))} only.`;
  }
  if (hasUnpaid) return 'The evaluator rejected an earlier delivery, or let it expire: buy by another channel, or name another evaluator.';
  return null;
}

/** One that was funded before it was seen is served as long as it can be. */
function leastTimeMs({ state }: Job): number {
  return state === 'FUNDED' ? LAST_DELIVERY_MS : LEAST_TIME_MS;
}
