import { type Address, isAddressEqual, zeroAddress } from 'viem';
import type { OnChainJob } from '../../chain/erc8183/jobs.ts';
import { formatMoney, usdFromMicros } from '../money.ts';
import type { Offering } from '../price-list.ts';
import { type DirectJobFacts, type DirectJobPolicy, findDirectJobRejection } from './direct-job-policy.ts';

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
export const MIN_TIME_TO_EXPIRY_MS = 5 * 60_000;
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
  return application.direct === null
    ? findUnknownEvaluatorRejection(application)
    : findRejectionWithoutEvaluator(application, application.direct);
}

function findRejectionWithoutEvaluator(application: JobApplication, direct: DirectJobFacts): string | null {
  const { job, offering, policy, hasUnpaid } = application;
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
