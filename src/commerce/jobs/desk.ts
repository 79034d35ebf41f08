import type { Address } from 'viem';
import type { Delivery, ListedJob } from './job-doc.ts';
import type { JobStore } from './job-store.ts';
import type { JobPolicy } from './policy.ts';

/** What is told of agent commerce jobs. */
export interface JobDesk {
  /** The ERC-8183 contract. */
  contract: Address;
  /** The wallet that jobs are created for. */
  provider: Address;
  policy: JobPolicy;
  /** Null for a job that is not the provider's, or not deep enough in the chain yet. */
  find(jobId: bigint): Promise<ListedJob | null>;
  /** What the job has delivered, once its hash is on chain; null before. */
  delivery(jobId: bigint): Promise<Delivery | null>;
}

export interface JobDeskParts {
  contract: Address;
  provider: Address;
  store: JobStore;
  policy: JobPolicy;
}

export function createJobDesk({ contract, provider, store, policy }: JobDeskParts): JobDesk {
  return {
    contract,
    provider,
    policy,
    find: (jobId) => store.find(contract, jobId),
    delivery: (jobId) => store.submitted(contract, jobId),
  };
}
