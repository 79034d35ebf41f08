import { type Address, isAddressEqual, maxUint256 } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readJob } from '../../chain/erc8183/jobs.ts';
import { readBlockNumber } from '../../chain/rpc/blocks.ts';
import type { Commerce } from '../commerce.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import type { JobDocWithoutText } from './job-doc.ts';
import type { JobPolicy } from './job-policy.ts';
import { signJobReceipt } from './job-status.ts';
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
    /** The receipt of a paid job, signed once; null before payment. @throws OracleError SIGNER_UNAVAILABLE */
    async getReceipt(
      job: JobDocWithoutText,
      { merchant, signReceipt }: Pick<Commerce, 'merchant' | 'signReceipt'>,
    ): Promise<SignedReceipt | null> {
      // A reorganisation may have given the payment another transaction.
      if (job.receipt !== undefined && job.receipt.message.txHash === job.payment?.txHash) return job.receipt;
      const receipt = await signJobReceipt(job, { merchant, signReceipt, provider });
      return receipt === null ? null : store.saveReceipt(job, receipt);
    },
    /** The deliverable once its hash is on chain, otherwise null. */
    findDelivery: (jobId: bigint) => store.findSubmittedDelivery(contract, jobId),
  };
}
