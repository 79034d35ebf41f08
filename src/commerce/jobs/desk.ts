import { type Address, isAddressEqual, maxUint256 } from 'viem';
import { readJob } from '../../chain/agent-commerce.ts';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc-error.ts';
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
  /** Whether the chain has a job for the provider that `find` does not know yet. @throws OracleError CHAIN_UNREACHABLE */
  isOnItsWay(jobId: bigint): Promise<boolean>;
  /** What the job has delivered, once its hash is on chain; null before. */
  delivery(jobId: bigint): Promise<Delivery | null>;
}

export interface JobDeskParts {
  contract: Address;
  provider: Address;
  store: JobStore;
  policy: JobPolicy;
  chain: Pick<Chain, 'client'>;
}

export function createJobDesk({ contract, provider, store, policy, chain }: JobDeskParts): JobDesk {
  return {
    contract,
    provider,
    policy,
    find: (jobId) => store.find(contract, jobId),
    async isOnItsWay(jobId) {
      // No contract can have it, and no call can carry it.
      if (jobId > maxUint256) return false;
      const head = await chainCall('Reading the block number', () => chain.client.getBlockNumber());
      const job = await readJob(chain, contract, jobId, head);
      return job !== null && isAddressEqual(job.provider, provider);
    },
    delivery: (jobId) => store.submitted(contract, jobId),
  };
}
