import { type Address, isAddressEqual, type PublicClient } from 'viem';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import { type PayableCoin, USDC_COINS } from '../../../payer/coins.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { createEvmReader } from '../../../platform/outbound/evm-client.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import type { CliContext, DemoDeployment } from '../context.ts';

export interface Coin extends PayableCoin {
  /** Endpoint of its chain that was not named by the seller; null when none is known. */
  rpcUrl: string | null;
  /** On the local chain of the demo deployment, where it is worth nothing. Known from this folder, not from the seller. */
  isLocal: boolean;
}

/** Prices and limits are in millionths of a dollar. */
const DECIMALS = 6;
const REQUEST = { timeoutMs: 15_000, retryCount: 2, retryDelayMs: 150 };

interface CoinOptions {
  wallet?: string;
  asset?: Address;
  rpc?: string;
}

/** USDC, the demo coin, or the coin of `--asset`. @throws UsageError; OracleError CHAIN_UNREACHABLE, CONFIG_INVALID */
export async function listCoins(context: CliContext, { wallet, asset, rpc }: CoinOptions): Promise<Coin[]> {
  const demo = wallet === undefined ? await readDemoOrNull(context) : ((await context.demo?.()) ?? null);
  const rpcChain = rpc === undefined ? null : await readChainId(createRpcClient(rpc));
  const usdc = USDC_COINS.map((coin) => ({ ...coin, rpcUrl: coin.chainId === rpcChain ? (rpc as string) : null, isLocal: false }));
  const ofDemo: Coin[] =
    demo === null ? [] : [{ address: demo.contracts.stablecoin, chainId: demo.chainId, rpcUrl: demo.rpcUrl, isLocal: true }];
  const named = asset === undefined ? [] : [await readNamedCoin(asset, { rpc, ofDemo })];
  return [...named, ...(wallet === undefined ? [] : ofDemo), ...usdc];
}

async function readDemoOrNull({ demo }: CliContext): Promise<DemoDeployment | null> {
  return (await demo?.().catch((error: unknown) => (isOracleError(error) ? null : Promise.reject(error)))) ?? null;
}

/** Bound to the chain on which it was read: on another chain the address may be any contract. */
async function readNamedCoin(address: Address, { rpc, ofDemo }: { rpc: string | undefined; ofDemo: readonly Coin[] }): Promise<Coin> {
  const local = ofDemo.find((coin) => isAddressEqual(coin.address, address));
  const rpcUrl = rpc ?? local?.rpcUrl ?? undefined;
  if (rpcUrl === undefined) throw new UsageError('--asset', 'requires --rpc, to read the coin on its chain');
  const client = createRpcClient(rpcUrl);
  const chainId = await readChainId(client);
  const decimals = await chainCall('Reading the decimals of the coin', () =>
    client.readContract({ address, abi: stablecoinAbi, functionName: 'decimals' }),
  ).catch((error: unknown) => {
    if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
    throw new UsageError('--asset', `there is no coin at ${address} on chain ${chainId}`);
  });
  if (decimals !== DECIMALS) throw new UsageError('--asset', `has ${decimals} decimals instead of ${DECIMALS}`);
  return { address, chainId, rpcUrl, isLocal: local !== undefined && local.rpcUrl === rpcUrl };
}

export function createRpcClient(rpcUrl: string): PublicClient {
  return createEvmReader({ rpcUrl, ...REQUEST });
}

function readChainId(client: PublicClient): Promise<number> {
  return chainCall('Asking for the chain id', () => client.getChainId());
}
