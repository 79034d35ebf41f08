import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { isSignedBy, type SignedHash } from '../../chain/verify-signature.ts';
import type { Delivery, ListedJob } from './job-doc.ts';
import type { JobStore } from './job-store.ts';

/** What is told of agent commerce jobs. */
export interface JobDesk {
  /** The ERC-8183 contract. */
  contract: Address;
  /** The wallet that jobs are created for. */
  provider: Address;
  /** Null for a job that is not the provider's, or not deep enough in the chain yet. */
  find(jobId: bigint): Promise<ListedJob | null>;
  /** What the job has delivered, once its hash is on chain; null before. */
  delivery(jobId: bigint): Promise<Delivery | null>;
  /** @throws OracleError CHAIN_UNREACHABLE */
  isSignedBy(signed: SignedHash): Promise<boolean>;
}

export interface JobDeskParts {
  chain: Chain;
  contract: Address;
  provider: Address;
  store: JobStore;
}

export function createJobDesk({ chain, contract, provider, store }: JobDeskParts): JobDesk {
  return {
    contract,
    provider,
    find: (jobId) => store.find(contract, jobId),
    delivery: (jobId) => store.submitted(contract, jobId),
    isSignedBy: (signed) => isSignedBy(chain, signed),
  };
}
