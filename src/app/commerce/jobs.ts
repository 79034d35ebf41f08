import { type Address, isAddressEqual } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readPaymentToken } from '../../chain/erc8183/jobs.ts';
import type { Wallet } from '../../chain/tx/wallet.ts';
import type { ClosedChannels } from '../../commerce/channels.ts';
import { composeDocument } from '../../commerce/documents/compose.ts';
import type { DocumentDeps } from '../../commerce/documents/deps.ts';
import { DeliverySlot } from '../../commerce/jobs/delivery-slot.ts';
import type { JobPolicy } from '../../commerce/jobs/job-policy.ts';
import { createJobService, type JobService } from '../../commerce/jobs/job-service.ts';
import { JobStore } from '../../commerce/jobs/job-store.ts';
import { createMarketplace, type Marketplace, type MarketplaceOptions } from '../../commerce/jobs/marketplace/marketplace-client.ts';
import { watchDeliveries } from '../../commerce/jobs/marketplace/post-deliveries.ts';
import { watchJobs } from '../../commerce/jobs/processing/watch.ts';
import type { Ledger } from '../../commerce/ledger/ledger.ts';
import type { Config } from '../../platform/config/settings.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { TrustedTime } from '../../platform/time/trusted-time.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

export interface ComposeJobsDeps extends Pick<ServiceCore, 'db' | 'chain' | 'now'> {
  signers: Pick<ServiceCore['signers'], 'provider'>;
  /** Of the provider. */
  wallet: Wallet;
  ledger: Ledger;
  answers: DocumentDeps;
  time: Pick<TrustedTime, 'findDisagreement'>;
}

export interface Jobs {
  /** Null where no jobs are accepted. */
  service: JobService | null;
  closedChannels: ClosedChannels;
  /** Processes jobs until the process stops; null where none are accepted. */
  watch: (() => Promise<void>) | null;
}

/** Polling interval: Base has a block every 2 s, a local chain one with each transaction. */
const POLL_MS = { real: 2_000, local: 500 } as const;

/** The provider of an ERC-8183 contract. @throws OracleError CHAIN_UNREACHABLE */
export async function composeJobs(
  { config, log, shutdown }: ProcessContext,
  { db, chain, signers, wallet, ledger, answers, time, now }: ComposeJobsDeps,
): Promise<Jobs> {
  const contract = chain.addresses.agentCommerce;
  const reason = await findClosedReason(chain, contract);
  if (contract === null || reason !== null) return { service: null, closedChannels: { 'agent-commerce': reason! }, watch: null };
  const store = new JobStore(db);
  const policy = buildJobPolicy(config);
  const compose = (offering: string, at: Date) => composeDocument(answers, 'agent-commerce', offering, at);
  const deps = { chain, contract, wallet, store, deliverySlot: new DeliverySlot(db), ledger, policy, compose, log, time, now };
  const { account } = signers.provider;
  const marketplace = createConfiguredMarketplace(config.AGENT_COMMERCE_MARKETPLACE_URL, { chainId: chain.chainId, account, now });
  const everyMs = config.chainMode === 'real' ? POLL_MS.real : POLL_MS.local;
  return {
    service: createJobService({ contract, provider: wallet.address, store, policy, chain }),
    closedChannels: acceptsNoJobs(policy) ? { 'agent-commerce': NO_JOBS_REASON } : {},
    async watch() {
      const posting = marketplace === null ? null : watchDeliveries({ ...deps, marketplace }, everyMs, shutdown.signal);
      await Promise.all([watchJobs(deps, everyMs, shutdown.signal), posting]);
    },
  };
}

function createConfiguredMarketplace(url: string | undefined, options: Omit<MarketplaceOptions, 'url'>): Marketplace | null {
  return url === undefined ? null : createMarketplace({ url, ...options });
}

const DAY_MS = 86_400_000;
/** Documents given away on a local chain are worth nothing. */
const UNKNOWN_EVALUATOR_POLICY = { real: { maxUsd: 0, unpaidPauseMs: DAY_MS }, local: { maxUsd: 5, unpaidPauseMs: 60_000 } } as const;

type PolicySetting =
  | 'AGENT_COMMERCE_EVALUATORS'
  | 'AGENT_COMMERCE_MAX_USD'
  | 'AGENT_COMMERCE_CODE_HASHES'
  | 'AGENT_COMMERCE_DIRECT_MAX_USD'
  | 'AGENT_COMMERCE_DIRECT_MAX_OPEN';

export function buildJobPolicy(config: Pick<Config, PolicySetting | 'chainMode'>): JobPolicy {
  const { maxUsd, unpaidPauseMs } = UNKNOWN_EVALUATOR_POLICY[config.chainMode === 'real' ? 'real' : 'local'];
  const maxMicros = BigInt(config.AGENT_COMMERCE_MAX_USD ?? maxUsd) * 1_000_000n;
  return { evaluators: config.AGENT_COMMERCE_EVALUATORS ?? [], maxMicros, unpaidPauseMs, direct: buildDirectJobPolicy(config) };
}

function buildDirectJobPolicy(config: Pick<Config, PolicySetting>): JobPolicy['direct'] {
  const { AGENT_COMMERCE_CODE_HASHES: codeHashes, AGENT_COMMERCE_DIRECT_MAX_OPEN: maxOpen } = config;
  if (codeHashes === undefined) return null;
  return { codeHashes, maxMicros: BigInt(config.AGENT_COMMERCE_DIRECT_MAX_USD) * 1_000_000n, maxOpen };
}

const acceptsNoJobs = ({ evaluators, maxMicros, direct }: JobPolicy) => evaluators.length === 0 && maxMicros === 0n && direct === null;
const NO_JOBS_REASON =
  'No evaluator is known to this provider, and it takes no jobs of unknown ones. Create no job for it: what it had taken on before is served.';

async function findClosedReason(chain: Chain, contract: Address | null): Promise<string | null> {
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
