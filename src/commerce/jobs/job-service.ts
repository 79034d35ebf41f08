import { type Address, isAddressEqual, maxUint256 } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readJob } from '../../chain/erc8183/jobs.ts';
import { readBlockNumber } from '../../chain/rpc/blocks.ts';
import type { JobPolicy } from './job-policy.ts';
import type { JobStore } from './job-store.ts';

export type JobService = ReturnType<typeof createJobService>;

export interface JobServiceDeps {
  /** The ERC-8183 contract. */
  contract: Address;
  provider: Address;
  policy: JobPolicy;
  store: JobStore;
  chain: Pick<Chain, 'client'>;
}

export function createJobService({ contract, provider, store, policy, chain }: JobServiceDeps) {
  return {
    contract,
    provider,
    policy,
    /** Null for another provider's job, or before its confirmation depth. */
    find: (jobId: bigint) => store.find(contract, jobId),
    /** Whether the latest block has a job of the provider that `find` does not return yet. @throws OracleError CHAIN_UNREACHABLE */
    async isUnconfirmed(jobId: bigint): Promise<boolean> {
      // Not encodable as uint256.
      if (jobId > maxUint256) return false;
      const job = await readJob(chain, contract, jobId, await readBlockNumber(chain));
      return job !== null && isAddressEqual(job.provider, provider);
    },
    /** The deliverable once its hash is on chain, otherwise null. */
    findDelivery: (jobId: bigint) => store.findSubmittedDelivery(contract, jobId),
  };
}
