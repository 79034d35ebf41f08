import type { Chain } from '../../chain/client.ts';
import type { Wallet } from '../../chain/tx/wallet.ts';
import { createCdpAuthorization } from '../../commerce/x402/settlement/cdp-authorization.ts';
import type { Facilitator } from '../../commerce/x402/settlement/facilitator.ts';
import type { FacilitatorEndpoint } from '../../commerce/x402/settlement/facilitator-endpoint.ts';
import type { GasBudget } from '../../commerce/x402/settlement/gas-budget.ts';
import { createLocalFacilitator } from '../../commerce/x402/settlement/local-facilitator.ts';
import { createRemoteFacilitator } from '../../commerce/x402/settlement/remote-facilitator.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ProcessContext } from '../process-context.ts';

interface FacilitatorDeps {
  chain: Chain;
  wallet: Wallet | null;
  now(): Date;
}

/** @throws OracleError CONFIG_INVALID without a wallet and a URL */
export function createFacilitator(
  { config, log }: Pick<ProcessContext, 'config' | 'log'>,
  { chain, wallet, now }: FacilitatorDeps,
): Facilitator {
  const endpoint = createFacilitatorEndpoint(config, now);
  if (endpoint !== null) return createRemoteFacilitator({ endpoint, log });
  if (wallet !== null) return createLocalFacilitator({ chain, wallet, gasBudget: buildGasBudget(config), log });
  throw new OracleError(
    'CONFIG_INVALID',
    'Setting FACILITATOR_PRIVATE_KEY: is required unless FACILITATOR_SIGNER or X402_FACILITATOR_URL is set',
    {
      field: 'FACILITATOR_PRIVATE_KEY',
    },
  );
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
