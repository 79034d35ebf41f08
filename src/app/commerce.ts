import { type Address, isAddressEqual } from 'viem';
import { ENDPOINTS, IDENTITY } from '../../agent-card/endpoints.ts';
import type { Chain } from '../chain/client.ts';
import { isSignedBy } from '../chain/contracts.ts';
import { readPaymentToken } from '../chain/erc8183.ts';
import { readStablecoin } from '../chain/stablecoin.ts';
import type { Commerce, SettlementPricing } from '../commerce/commerce.ts';
import { composeDocument } from '../commerce/documents/track-record.ts';
import { DeliverySlot, JobStore } from '../commerce/jobs/job-store.ts';
import type { JobPolicy } from '../commerce/jobs/jobs.ts';
import { createMarketplace, watchDeliveries } from '../commerce/jobs/jobs.ts';
import { createJobService, type JobService, watchJobs } from '../commerce/jobs/processing.ts';
import { Ledger } from '../commerce/ledger.ts';
import {
  type ClosedChannels,
  createForecastTerms,
  createSalesGate,
  getCaip2Network,
  type MerchantConfig,
  parseUsd,
} from '../commerce/offerings.ts';
import { createOfferSigner, createX402ReceiptSigner } from '../commerce/receipt-signer.ts';
import { createReceiptSigner } from '../commerce/receipts.ts';
import { FailedSettlementStore, PaymentClaimStore } from '../commerce/x402/claims.ts';
import { createCdpAuthorization, createRemoteFacilitator, type FacilitatorEndpoint } from '../commerce/x402/facilitator.ts';
import { createLocalFacilitator, DeploymentBudget, requireDeploymentContracts } from '../commerce/x402/local-facilitator.ts';
import { type SalesDeps, SalesService } from '../commerce/x402/sales.ts';
import type { Facilitator } from '../commerce/x402/settlement.ts';
import { getLocalWalletFactory } from '../dev/local-chain/contracts.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import { joinUrl } from '../platform/service-client.ts';
import type { Config } from '../settings.ts';
import type { ServiceCore } from './core.ts';

/** @throws OracleError CONFIG_INVALID for an unusable payee, stablecoin or wallet factory */
export async function composeCommerce(core: ServiceCore, observePayment: Required<SalesDeps>['observePayment']): Promise<Commerce> {
  const { config, log, shutdown, progress, db, chain, signers, publicUrl, now } = core;
  const { chainId, addresses } = chain;
  const provider = signers.provider.account;
  const payee: Address = config.PAYEE_ADDRESS ?? provider.address;
  const asset = addresses.stablecoin;
  requirePayee(payee, Object.values(addresses));
  const isRealChain = config.chainMode === 'real';
  const merchant: MerchantConfig = {
    chainId,
    asset,
    payee,
    domain: await readStablecoin(chain, asset),
    realMoney: isRealChain,
    publicUrl: publicUrl.replace(/\/+$/, ''),
    service: { serviceName: IDENTITY.name, tags: [...IDENTITY.topics], iconUrl: joinUrl(publicUrl, ENDPOINTS.icon) },
  };
  const ledger = new Ledger(db);
  const signReceipt = createReceiptSigner(provider, chainId);
  const requireOpen = createSalesGate(() => progress.replayAhead);
  const readForecastTerms = createForecastTerms(core);
  const sales = new SalesService({
    chain,
    merchant,
    ledger,
    signReceipt,
    signX402Receipt: createX402ReceiptSigner(provider, getCaip2Network(merchant)),
    signOffer: createOfferSigner(provider),
    requireOpen,
    readForecastTerms,
    facilitator: await createFacilitator(core),
    claims: new PaymentClaimStore(db),
    failures: new FailedSettlementStore(db),
    signal: shutdown.signal,
    log,
    now,
    observePayment,
  });
  return {
    ledger,
    merchant,
    signReceipt,
    receiptSigner: provider.address,
    sales,
    facilitatorUrl: config.X402_FACILITATOR_URL ?? null,
    isSignedBy: (signed) => isSignedBy(chain, signed),
    purchaseSignatures: config.PURCHASE_SIGNATURE ?? (isRealChain ? 'required' : 'optional'),
    closed: {},
    requireOpen,
    readForecastTerms,
  };
}

/** A contract that expects no payment keeps it for good. @throws OracleError CONFIG_INVALID */
function requirePayee(payee: Address, contracts: readonly (Address | null)[]): void {
  if (!contracts.some((contract) => contract !== null && isAddressEqual(contract, payee))) return;
  throw new OracleError('CONFIG_INVALID', `Setting PAYEE_ADDRESS: ${payee} is a contract of the service, which would keep the money`, {
    field: 'PAYEE_ADDRESS',
    suggestedAction: 'Set PAYEE_ADDRESS to a wallet of yours.',
  });
}

/** @throws OracleError CONFIG_INVALID without a wallet and a URL, or for an unusable wallet factory */
async function createFacilitator(core: ServiceCore): Promise<Facilitator> {
  const { config, log, db, chain, now } = core;
  const wallet = core.wallets.facilitator;
  const endpoint = createFacilitatorEndpoint(config, now);
  if (endpoint !== null) return createRemoteFacilitator({ endpoint, chain, log, now });
  await requireDeploymentContracts(chain, config.X402_WALLET_FACTORIES ?? []);
  const deployments = {
    factories: config.X402_WALLET_FACTORIES ?? (config.chainMode === 'real' ? [] : [getLocalWalletFactory()]),
    budget: new DeploymentBudget(db, config.X402_DEPLOYMENTS_PER_DAY),
  };
  const gasBudget = { currencyUsd: getCurrencyUsd(config), maxCents: config.X402_MAX_GAS_CENTS };
  if (wallet !== null) return createLocalFacilitator({ chain, wallet, gasBudget, deployments, log, now });
  const problem = 'is required unless FACILITATOR_SIGNER or X402_FACILITATOR_URL is set';
  throw new OracleError('CONFIG_INVALID', `Setting FACILITATOR_PRIVATE_KEY: ${problem}`, { field: 'FACILITATOR_PRIVATE_KEY' });
}

type EndpointConfig = Pick<Config, 'X402_FACILITATOR_URL' | 'CDP_API_KEY_ID' | 'CDP_API_KEY_SECRET'>;

/** The remote facilitator of the settings, with its key; null when this process settles payments. */
export function createFacilitatorEndpoint(config: EndpointConfig, now: () => Date): FacilitatorEndpoint | null {
  const { X402_FACILITATOR_URL: url, CDP_API_KEY_ID: id, CDP_API_KEY_SECRET: secret } = config;
  if (url === undefined) return null;
  return { url, ...(id === undefined || secret === undefined ? {} : { authorize: createCdpAuthorization({ id, secret, now }) }) };
}

/** Above ether's highest price so far: with an unset price fewer contract wallets are admitted, never more. */
const ASSUMED_CURRENCY_USD = 10_000;

function getCurrencyUsd({ chainMode, CHAIN_CURRENCY_USD }: Pick<Config, 'chainMode' | 'CHAIN_CURRENCY_USD'>): number | null {
  return CHAIN_CURRENCY_USD ?? (chainMode === 'real' ? ASSUMED_CURRENCY_USD : null);
}

/** Where the cost of a settlement comes from under these settings. */
export function getSettlementPricing(
  config: Pick<Config, 'chainMode' | 'CHAIN_CURRENCY_USD' | 'X402_FACILITATOR_URL' | 'X402_FACILITATOR_FEE_USD'>,
): SettlementPricing {
  const { X402_FACILITATOR_URL: url, X402_FACILITATOR_FEE_USD: fee } = config;
  if (url !== undefined) return { feeMicros: fee === undefined ? null : parseUsd(fee).amount };
  return { currencyUsd: getCurrencyUsd(config), isAssumed: config.CHAIN_CURRENCY_USD === undefined };
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
export async function composeJobs(core: ServiceCore, ledger: Ledger): Promise<Jobs> {
  const { config, log, shutdown, db, chain, signers, time, now } = core;
  const wallet = core.wallets.provider;
  const contract = chain.addresses.agentCommerce;
  const reason = await findClosedReason(chain, contract);
  if (contract === null || reason !== null) return { service: null, closedChannels: { 'agent-commerce': reason! }, watch: null };
  const store = new JobStore(db);
  const policy = buildJobPolicy(config);
  const acceptsJobs = policy.evaluators.length > 0 || policy.maxMicros > 0n || policy.direct !== null;
  const compose = (offering: string, at: Date) => composeDocument(core, 'agent-commerce', offering, at);
  const deps = { chain, contract, wallet, store, deliverySlot: new DeliverySlot(db), ledger, policy, compose, log, time, now };
  const { AGENT_COMMERCE_MARKETPLACE_URL: url } = config;
  const marketplace = url === undefined ? null : createMarketplace({ url, chainId: chain.chainId, account: signers.provider.account, now });
  const everyMs = config.chainMode === 'real' ? POLL_MS.real : POLL_MS.local;
  return {
    service: createJobService({ contract, provider: wallet.address, store, policy, chain }),
    closedChannels: acceptsJobs ? {} : { 'agent-commerce': NO_JOBS_REASON },
    async watch() {
      const posting = marketplace === null ? null : watchDeliveries({ ...deps, marketplace }, everyMs, shutdown.signal);
      await Promise.all([watchJobs(deps, everyMs, shutdown.signal), posting]);
    },
  };
}

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
