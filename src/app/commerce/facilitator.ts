import type { Wallet } from '../../chain/tx/wallet.ts';
import { createCdpAuthorization } from '../../commerce/x402/settlement/cdp-authorization.ts';
import { DeploymentBudget } from '../../commerce/x402/settlement/deployments/deployment-budget.ts';
import { requireDeploymentContracts } from '../../commerce/x402/settlement/deployments/deployment-contracts.ts';
import { forwardSupportedDeployments } from '../../commerce/x402/settlement/deployments/forwarded-deployments.ts';
import type { Facilitator } from '../../commerce/x402/settlement/facilitator.ts';
import type { FacilitatorEndpoint } from '../../commerce/x402/settlement/facilitator-endpoint.ts';
import { readDeploymentSupport } from '../../commerce/x402/settlement/facilitator-support.ts';
import type { GasBudget } from '../../commerce/x402/settlement/gas-budget.ts';
import { createLocalFacilitator } from '../../commerce/x402/settlement/local-facilitator.ts';
import { createRemoteFacilitator } from '../../commerce/x402/settlement/remote-facilitator.ts';
import { getLocalWalletFactory } from '../../dev/local-chain/contracts/deploy.ts';
import { createCache } from '../../platform/cache.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

interface FacilitatorDeps extends Pick<ServiceCore, 'db' | 'chain' | 'now'> {
  wallet: Wallet | null;
}

/** @throws OracleError CONFIG_INVALID without a wallet and a URL, or for an unusable wallet factory */
export async function createFacilitator(
  { config, log }: Pick<ProcessContext, 'config' | 'log'>,
  { db, chain, wallet, now }: FacilitatorDeps,
): Promise<Facilitator> {
  const endpoint = createFacilitatorEndpoint(config, now);
  if (endpoint !== null) return createForwardingFacilitator(endpoint, { chain, log, now });
  await requireDeploymentContracts(chain, config.X402_WALLET_FACTORIES ?? []);
  const deployments = {
    factories: config.X402_WALLET_FACTORIES ?? (config.chainMode === 'real' ? [] : [getLocalWalletFactory()]),
    budget: new DeploymentBudget(db, config.X402_DEPLOYMENTS_PER_DAY),
  };
  if (wallet !== null) return createLocalFacilitator({ chain, wallet, gasBudget: buildGasBudget(config), deployments, log, now });
  throw new OracleError(
    'CONFIG_INVALID',
    'Setting FACILITATOR_PRIVATE_KEY: is required unless FACILITATOR_SIGNER or X402_FACILITATOR_URL is set',
    {
      field: 'FACILITATOR_PRIVATE_KEY',
    },
  );
}

const SUPPORT_MS = 600_000;

/** Asked for its support of deployments at most once in ten minutes, after the first payment that needs it. */
function createForwardingFacilitator(
  endpoint: FacilitatorEndpoint,
  { chain, log, now }: Pick<ServiceCore, 'chain' | 'now'> & Pick<ProcessContext, 'log'>,
): Facilitator {
  const cache = createCache<boolean>('facilitator-support', 1);
  async function isSupported(): Promise<boolean> {
    try {
      return await cache.get(Math.floor(now().getTime() / SUPPORT_MS), () => readDeploymentSupport(endpoint, chain.chainId));
    } catch (error) {
      log.warn({ err: error }, 'the facilitator did not say whether it deploys wallets');
      return false;
    }
  }
  return forwardSupportedDeployments(createRemoteFacilitator({ endpoint, log }), { chain, isSupported });
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

function buildGasBudget({ chainMode, CHAIN_CURRENCY_USD, X402_MAX_GAS_CENTS }: Config): GasBudget {
  const currencyUsd = CHAIN_CURRENCY_USD ?? (chainMode === 'real' ? ASSUMED_CURRENCY_USD : null);
  return { currencyUsd, maxCents: X402_MAX_GAS_CENTS };
}
