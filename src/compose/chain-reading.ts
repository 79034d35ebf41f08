import { urlAt } from '../../agent-card/url.ts';
import type { ChainReading } from '../chain/reading/chain-reading.ts';
import { createReadOnlyRpc } from '../chain/reading/read-only-rpc.ts';
import type { Config } from '../config.ts';
import { RPC_PATH } from '../http/routes/rpc.ts';

/** The public endpoint of Base, for whoever has none of his own. */
const BASE = { chainId: 8453, rpcUrl: 'https://mainnet.base.org' } as const;

export interface ChainReadingComposition {
  config: Pick<Config, 'chainMode' | 'CHAIN_ID' | 'PUBLIC_RPC_URL'>;
  /** Of the local chain, which nobody but this machine reaches. */
  rpcUrl: string;
  publicUrl: string;
}

/** How strangers read the chain. `CHAIN_RPC_URL` is never told: it may hold a key. */
export function composeChainReading({ config, rpcUrl, publicUrl }: ChainReadingComposition): ChainReading {
  if (config.chainMode !== 'real') return { rpc: createReadOnlyRpc({ rpcUrl }), rpcUrl: urlAt(publicUrl, RPC_PATH) };
  const known = config.CHAIN_ID === BASE.chainId ? BASE.rpcUrl : null;
  return { rpc: null, rpcUrl: config.PUBLIC_RPC_URL ?? known };
}
