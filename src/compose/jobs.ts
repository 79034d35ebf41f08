import type { Db } from 'mongodb';
import { type Address, isAddressEqual } from 'viem';
import { readPaymentToken } from '../chain/agent-commerce.ts';
import type { Chain } from '../chain/client.ts';
import type { Wallet } from '../chain/wallet.ts';
import type { ClosedChannels } from '../commerce/channel.ts';
import { composeDocument } from '../commerce/documents/compose.ts';
import type { DocumentParts } from '../commerce/documents/parts.ts';
import { createJobDesk, type JobDesk } from '../commerce/jobs/desk.ts';
import { JobStore } from '../commerce/jobs/job-store.ts';
import type { JobPolicy } from '../commerce/jobs/policy.ts';
import { JobTurns } from '../commerce/jobs/turns.ts';
import { watchJobs } from '../commerce/jobs/watch.ts';
import type { Ledger } from '../commerce/ledger.ts';
import type { Config } from '../config.ts';
import { isOracleError } from '../errors.ts';
import type { TrustedTime } from '../trusted-time.ts';
import type { Frame } from './frame.ts';

export interface JobComposition {
  db: Db;
  chain: Chain;
  /** The provider's. */
  wallet: Wallet;
  ledger: Ledger;
  /** What documents are composed from. */
  answers: DocumentParts;
  time: Pick<TrustedTime, 'disagreement'>;
  now(): Date;
}

/** Agent commerce: what is told of its jobs, why it is closed where it is, and what takes the jobs on. */
export interface Jobs {
  /** Null where no jobs are taken. */
  desk: JobDesk | null;
  closed: ClosedChannels;
  /** Runs until the process stops; null where no jobs are taken. */
  watch: (() => Promise<void>) | null;
}

/** How often a chain is looked at: Base has a block every 2 s, a local chain one with each transaction. */
const EVERY_MS = { real: 2_000, local: 500 } as const;

/** The provider of an ERC-8183 contract. @throws OracleError CHAIN_UNREACHABLE */
export async function composeJobs(
  { config, log, shutdown }: Frame,
  { db, chain, wallet, ledger, answers, time, now }: JobComposition,
): Promise<Jobs> {
  const contract = chain.addresses.agentCommerce;
  const reason = await closedReason(chain, contract);
  if (contract === null || reason !== null) return { desk: null, closed: { 'agent-commerce': reason! }, watch: null };
  const store = new JobStore(db);
  const policy = policyOf(config);
  const compose = (offering: string, at: Date) => composeDocument(answers, 'agent-commerce', offering, at);
  const parts = { chain, contract, wallet, store, turns: new JobTurns(db), ledger, policy, compose, log, time, now };
  const everyMs = config.chainMode === 'real' ? EVERY_MS.real : EVERY_MS.local;
  return {
    desk: createJobDesk({ contract, provider: wallet.address, store, policy, chain }),
    closed: takesNone(policy) ? { 'agent-commerce': TAKES_NONE } : {},
    watch: () => watchJobs(parts, everyMs, shutdown.signal),
  };
}

const DAY_MS = 86_400_000;
/** What is given away on a local chain is worth nothing. */
const STRANGERS = { real: { maxUsd: 0, unpaidPauseMs: DAY_MS }, local: { maxUsd: 5, unpaidPauseMs: 60_000 } } as const;

/** Whose jobs are taken, by the settings and by whether money is real. */
export function policyOf(config: Pick<Config, 'AGENT_COMMERCE_EVALUATORS' | 'AGENT_COMMERCE_MAX_USD' | 'chainMode'>): JobPolicy {
  const { maxUsd, unpaidPauseMs } = STRANGERS[config.chainMode === 'real' ? 'real' : 'local'];
  const maxMicros = BigInt(config.AGENT_COMMERCE_MAX_USD ?? maxUsd) * 1_000_000n;
  return { evaluators: config.AGENT_COMMERCE_EVALUATORS ?? [], maxMicros, unpaidPauseMs };
}

const takesNone = ({ evaluators, maxMicros }: JobPolicy) => evaluators.length === 0 && maxMicros === 0n;
const TAKES_NONE =
  'No evaluator is known to this provider, and it takes no jobs of unknown ones. Create no job for it: what it had taken on before is served.';

async function closedReason(chain: Chain, contract: Address | null): Promise<string | null> {
  if (contract === null) return 'No agent commerce contract is set here. Create no job for this provider.';
  try {
    const token = await readPaymentToken(chain, contract);
    if (isAddressEqual(token, chain.addresses.stablecoin)) return null;
    return `The agent commerce contract ${contract} pays in another coin than this service takes. Create no job for this provider.`;
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
    return `No agent commerce contract answers at ${contract}. Create no job for this provider.`;
  }
}
