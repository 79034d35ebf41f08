import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readContractStates } from '../../chain/contract-states.ts';
import { TIMETABLE } from '../../pipeline/schedule/timetable.ts';
import { createCache } from '../../platform/cache.ts';
import type { Config } from '../../platform/config/settings.ts';
import type { AboutDeps } from '../../transports/http/service/about/deps.ts';

export interface ComposeAboutDeps {
  config: Pick<Config, 'chainMode' | 'RATE_LIMIT_PUBLIC' | 'RATE_LIMIT_WALLET' | 'RATE_LIMIT_RPC'>;
  chain: Chain;
  agentId: number;
  /** Wallet that logs outcomes to the reputation registry. */
  reporter: Address;
  now(): Date;
}

/** What the service tells about itself. */
export function composeAbout({ config, chain, agentId, reporter, now }: ComposeAboutDeps): AboutDeps {
  const states = createCache<Awaited<ReturnType<AboutDeps['contracts']>>>('contract-states', 1);
  const ask = async () => ({ ...(await readContractStates(chain, { agentId, reporter })), checkedAt: now() });
  return {
    local: config.chainMode !== 'real',
    confirmations: chain.confirmations,
    rates: { public: config.RATE_LIMIT_PUBLIC, wallet: config.RATE_LIMIT_WALLET, rpc: config.RATE_LIMIT_RPC },
    schedule: [...TIMETABLE],
    contracts: () => states.get(Math.floor(now().getTime() / 60_000), ask),
  };
}
