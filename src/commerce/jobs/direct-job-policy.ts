import { type Hex, isAddressEqual, zeroAddress } from 'viem';
import type { OnChainJob } from '../../chain/erc8183/jobs.ts';
import { formatMoney, usdFromMicros } from '../money.ts';
import type { Offering } from '../price-list.ts';

/** Direct jobs have no evaluator: a contract that allows them completes and pays a job with its submission. ERC-8183 itself does not. */
export interface DirectJobPolicy {
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
export function findDirectJobRejection(
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
