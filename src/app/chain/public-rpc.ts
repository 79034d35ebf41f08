import { createReadOnlyRpc, type RpcAccess } from '../../chain/rpc-proxy/read-only-rpc.ts';
import type { Config } from '../../platform/config/settings.ts';
import { joinUrl } from '../../platform/service-url.ts';
import { RPC_PATH } from '../../transports/http/service/rpc/routes.ts';

/** The public endpoint of Base, for whoever has none of his own. */
const BASE = { chainId: 8453, rpcUrl: 'https://mainnet.base.org' } as const;

export interface ComposePublicRpcDeps {
  config: Pick<Config, 'chainMode' | 'CHAIN_ID' | 'PUBLIC_RPC_URL'>;
  /** Of the local chain, which nobody but this machine reaches. */
  rpcUrl: string;
  publicUrl: string;
}

/** How strangers read the chain. `CHAIN_RPC_URL` is never told: it may hold a key. */
export function composePublicRpc({ config, rpcUrl, publicUrl }: ComposePublicRpcDeps): RpcAccess {
  if (config.chainMode !== 'real') return { rpc: createReadOnlyRpc({ rpcUrl }), rpcUrl: joinUrl(publicUrl, RPC_PATH) };
  const known = config.CHAIN_ID === BASE.chainId ? BASE.rpcUrl : null;
  return { rpc: null, rpcUrl: config.PUBLIC_RPC_URL ?? known };
}
