import { type Address, isAddressEqual, type PublicClient } from 'viem';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { createEvmReader } from '../../../platform/outbound/evm-client.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import type { CliContext, DemoDeployment } from '../context.ts';

/** A coin that may be paid with. */
export interface Coin {
  address: Address;
  chainId: number;
  /** An endpoint of its chain that is not the seller's word; null: none is known. */
  rpcUrl: string | null;
  /** Of the local chain of a demonstration, where anybody can make it: so says this folder, and not the seller. */
  isLocal: boolean;
}

/** USDC, by chain: coins of other addresses may be worth anything. */
const USDC_COINS: readonly Omit<Coin, 'rpcUrl' | 'isLocal'>[] = [
  { chainId: 8453, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  { chainId: 84532, address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
];

/** Amounts are told, and limited, in millionths of a dollar. */
const DECIMALS = 6;
const REQUEST = { timeoutMs: 15_000, retryCount: 2, retryDelayMs: 150 };

interface CoinOptions {
  /** A wallet of the demonstration pays with its coin. */
  wallet?: string;
  /** Another coin. */
  asset?: Address;
  /** Endpoint of the chain that is paid on. */
  rpc?: string;
}

/** Coins that a call may pay with: USDC, that of the demonstration, or one that is named. @throws Misuse; OracleError CHAIN_UNREACHABLE, CONFIG_INVALID */
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

/** Bound to the chain that it was looked at on: the same address is anything elsewhere. */
async function readNamedCoin(address: Address, { rpc, ofDemo }: { rpc: string | undefined; ofDemo: readonly Coin[] }): Promise<Coin> {
  const local = ofDemo.find((coin) => isAddressEqual(coin.address, address));
  const rpcUrl = rpc ?? local?.rpcUrl ?? undefined;
  if (rpcUrl === undefined) throw new UsageError('--asset', 'needs --rpc: the coin is looked at on its chain');
  const client = createRpcClient(rpcUrl);
  const chainId = await readChainId(client);
  const decimals = await chainCall('Reading the decimals of the coin', () =>
    client.readContract({ address, abi: stablecoinAbi, functionName: 'decimals' }),
  ).catch((error: unknown) => {
    if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
    throw new UsageError('--asset', `there is no coin at ${address} on chain ${chainId}`);
  });
  if (decimals !== DECIMALS)
    throw new UsageError('--asset', `has ${decimals} decimals, and ${DECIMALS} are reckoned with: amounts would be others`);
  return { address, chainId, rpcUrl, isLocal: local !== undefined && local.rpcUrl === rpcUrl };
}

export function createRpcClient(rpcUrl: string): PublicClient {
  return createEvmReader({ rpcUrl, ...REQUEST });
}

function readChainId(client: PublicClient): Promise<number> {
  return chainCall('Asking for the chain id', () => client.getChainId());
}

/** The coin of an address on a chain, if it may be paid with. */
export function findCoin(coins: readonly Coin[], { asset, chainId }: { asset: Address; chainId: number }): Coin | undefined {
  return coins.find((coin) => coin.chainId === chainId && isAddressEqual(coin.address, asset));
}
