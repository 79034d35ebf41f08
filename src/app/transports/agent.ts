import type { Address } from 'viem';
import { CardChangeStore } from '../../../agent-card/card/card-change-store.ts';
import type { CardSource } from '../../../agent-card/card/card-source.ts';
import { type CardService, createCardService } from '../../../agent-card/card/signed-card.ts';
import { CardKeyStore } from '../../auth/tokens/card-key-store.ts';
import { readContractStates } from '../../chain/contract-states.ts';
import type { Commerce } from '../../commerce/commerce.ts';
import { TIMETABLE } from '../../pipeline/schedule/timetable.ts';
import { createCache } from '../../platform/cache.ts';
import type { Config } from '../../platform/config/settings.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { AboutDeps } from '../../transports/http/service/about/deps.ts';
import type { ServiceCore } from '../core.ts';

export function buildCardSource({ chain, agentId, publicUrl }: ServiceCore, commerce: Commerce, version: string): CardSource {
  const { merchant, receiptSigner } = commerce;
  return {
    publicUrl,
    version,
    chainId: chain.chainId,
    registry: chain.addresses.identityRegistry,
    agentId,
    payments: { payee: merchant.payee, asset: merchant.asset, receiptSigner },
  };
}

/** @throws OracleError CONFIG_INVALID if the stored keys are encrypted under another secret */
export async function composeCard(
  deps: Pick<ServiceCore, 'db' | 'encryptionSecret' | 'now'> & { source: CardSource },
): Promise<CardService> {
  const { db, encryptionSecret, source, now } = deps;
  const keys = new CardKeyStore({ db, secretBox: createSecretBox(encryptionSecret), now });
  const service = createCardService({ source, keys, changes: new CardChangeStore({ db, now }), now });
  await service.current();
  return service;
}

interface ComposeAboutDeps extends Pick<ServiceCore, 'chain' | 'agentId' | 'now'> {
  config: Pick<Config, 'chainMode' | 'RATE_LIMIT_PUBLIC' | 'RATE_LIMIT_WALLET' | 'RATE_LIMIT_RPC'>;
  reporter: Address;
}

/** Source of the service's description of itself; contract states are read at most once a minute. */
export function composeAbout({ config, chain, agentId, reporter, now }: ComposeAboutDeps): AboutDeps {
  const cache = createCache<Awaited<ReturnType<AboutDeps['contracts']>>>('contract-states', 1);
  const read = async () => ({ ...(await readContractStates(chain, { agentId, reporter })), checkedAt: now() });
  return {
    local: config.chainMode !== 'real',
    confirmations: chain.confirmations,
    rates: { public: config.RATE_LIMIT_PUBLIC, wallet: config.RATE_LIMIT_WALLET, rpc: config.RATE_LIMIT_RPC },
    schedule: [...TIMETABLE],
    contracts: () => cache.get(Math.floor(now().getTime() / 60_000), read),
  };
}
