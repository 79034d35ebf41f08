import { readCodeHashes } from '../../../chain/erc8183/contract-code.ts';
import type { OnChainJob } from '../../../chain/erc8183/jobs.ts';
import type { DirectJobFacts } from '../direct-job-policy.ts';
import type { JobDeps } from './deps.ts';

type DirectJobDeps = Pick<JobDeps, 'chain' | 'contract' | 'ledger' | 'policy' | 'store'>;

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readDirectJobFacts(deps: DirectJobDeps, job: OnChainJob, at: Date): Promise<DirectJobFacts> {
  const [isKnownCode, isKnownClient, openJobs] = await Promise.all([
    hasKnownCode(deps),
    isKnownJobClient(deps, job),
    deps.store.countOpenDirectJobs(at),
  ]);
  return { isKnownCode, isKnownClient, openJobs };
}

/** Whether the contract, and the implementation that its proxy has now, are known to pay with the submission. @throws OracleError CHAIN_UNREACHABLE */
export async function hasKnownCode({ chain, contract, policy }: Pick<JobDeps, 'chain' | 'contract' | 'policy'>): Promise<boolean> {
  const { direct } = policy;
  if (direct === null) return false;
  const hashes = await readCodeHashes(chain, contract);
  return hashes?.every((hash) => direct.codeHashes.includes(hash)) ?? false;
}

export async function isKnownJobClient({ ledger }: Pick<JobDeps, 'ledger'>, { client }: Pick<OnChainJob, 'client'>): Promise<boolean> {
  return (await ledger.countPayments(client, { channel: 'agent-commerce', max: 1 })) > 0;
}
