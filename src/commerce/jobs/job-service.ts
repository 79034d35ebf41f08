import { type Address, isAddressEqual, maxUint256 } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readJob } from '../../chain/erc8183/jobs.ts';
import { readBlockNumber } from '../../chain/rpc/blocks.ts';
import type { JobDelivery, JobDocWithoutText } from './job-doc.ts';
import type { JobPolicy } from './job-policy.ts';
import type { JobStore } from './job-store.ts';

export interface JobService {
  /** The ERC-8183 contract. */
  contract: Address;
  provider: Address;
  policy: JobPolicy;
  /** Null for another provider's job, or before its confirmation depth. */
  find(jobId: bigint): Promise<JobDocWithoutText | null>;
  /** Whether the latest block has a job of the provider that `find` does not return yet. @throws OracleError CHAIN_UNREACHABLE */
  isUnconfirmed(jobId: bigint): Promise<boolean>;
  /** The deliverable once its hash is on chain, otherwise null. */
  findDelivery(jobId: bigint): Promise<JobDelivery | null>;
}

export interface JobServiceDeps extends Pick<JobService, 'contract' | 'provider' | 'policy'> {
  store: JobStore;
  chain: Pick<Chain, 'client'>;
}

export function createJobService({ contract, provider, store, policy, chain }: JobServiceDeps): JobService {
  return {
    contract,
    provider,
    policy,
    find: (jobId) => store.find(contract, jobId),
    async isUnconfirmed(jobId) {
      // Not encodable as uint256.
      if (jobId > maxUint256) return false;
      const job = await readJob(chain, contract, jobId, await readBlockNumber(chain));
      return job !== null && isAddressEqual(job.provider, provider);
    },
    findDelivery: (jobId) => store.findSubmittedDelivery(contract, jobId),
  };
}
