import { type Address, isAddressEqual, maxUint256 } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readJob } from '../../chain/erc8183/jobs.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import type { JobDelivery, JobDocWithoutText } from './job-doc.ts';
import type { JobPolicy } from './job-policy.ts';
import type { JobStore } from './job-store.ts';

/** What is told of agent commerce jobs. */
export interface JobService {
  /** The ERC-8183 contract. */
  contract: Address;
  /** The wallet that jobs are created for. */
  provider: Address;
  policy: JobPolicy;
  /** Null for a job that is not the provider's, or not deep enough in the chain yet. */
  find(jobId: bigint): Promise<JobDocWithoutText | null>;
  /** Whether the chain has a job for the provider that `find` does not know yet. @throws OracleError CHAIN_UNREACHABLE */
  isUnconfirmed(jobId: bigint): Promise<boolean>;
  /** What the job has delivered, once its hash is on chain; null before. */
  findDelivery(jobId: bigint): Promise<JobDelivery | null>;
}

export interface JobServiceDeps {
  contract: Address;
  provider: Address;
  store: JobStore;
  policy: JobPolicy;
  chain: Pick<Chain, 'client'>;
}

export function createJobService({ contract, provider, store, policy, chain }: JobServiceDeps): JobService {
  return {
    contract,
    provider,
    policy,
    find: (jobId) => store.find(contract, jobId),
    async isUnconfirmed(jobId) {
      // No contract can have it, and no call can carry it.
      if (jobId > maxUint256) return false;
      const head = await chainCall('Reading the block number', () => chain.client.getBlockNumber());
      const job = await readJob(chain, contract, jobId, head);
      return job !== null && isAddressEqual(job.provider, provider);
    },
    findDelivery: (jobId) => store.findSubmittedDelivery(contract, jobId),
  };
}
