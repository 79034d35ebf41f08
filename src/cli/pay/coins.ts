import { type Address, isAddressEqual, type PublicClient } from 'viem';
import { Misuse } from '../../audit/misuse.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { stablecoinAbi } from '../../chain/stablecoin.ts';
import { isOracleError } from '../../errors.ts';
import { createEvmReader } from '../../platform/outbound/evm-client.ts';
import type { Demo, Host } from '../host.ts';

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
const USDC: readonly Omit<Coin, 'rpcUrl' | 'isLocal'>[] = [
  { chainId: 8453, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  { chainId: 84532, address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
];

/** Amounts are told, and limited, in millionths of a dollar. */
const DECIMALS = 6;
const REQUEST = { timeoutMs: 15_000, retryCount: 2, retryDelayMs: 150 };

interface CoinChoice {
  /** A wallet of the demonstration pays with its coin. */
  wallet?: string;
  /** Another coin. */
  asset?: Address;
  /** Endpoint of the chain that is paid on. */
  rpc?: string;
}

/** Coins that a call may pay with: USDC, that of the demonstration, or one that is named. @throws Misuse; OracleError CHAIN_UNREACHABLE, CONFIG_INVALID */
export async function coinsFor(host: Host, { wallet, asset, rpc }: CoinChoice): Promise<Coin[]> {
  const demo = wallet === undefined ? await demoHere(host) : ((await host.demo?.()) ?? null);
  const rpcChain = rpc === undefined ? null : await chainIdOf(clientAt(rpc));
  const usdc = USDC.map((coin) => ({ ...coin, rpcUrl: coin.chainId === rpcChain ? (rpc as string) : null, isLocal: false }));
  const ofDemo: Coin[] =
    demo === null ? [] : [{ address: demo.contracts.stablecoin, chainId: demo.chainId, rpcUrl: demo.rpcUrl, isLocal: true }];
  const named = asset === undefined ? [] : [await namedCoin(asset, { rpc, ofDemo })];
  return [...named, ...(wallet === undefined ? [] : ofDemo), ...usdc];
}

async function demoHere({ demo }: Host): Promise<Demo | null> {
  return (await demo?.().catch((error: unknown) => (isOracleError(error) ? null : Promise.reject(error)))) ?? null;
}

/** Bound to the chain that it was looked at on: the same address is anything elsewhere. */
async function namedCoin(address: Address, { rpc, ofDemo }: { rpc: string | undefined; ofDemo: readonly Coin[] }): Promise<Coin> {
  const local = ofDemo.find((coin) => isAddressEqual(coin.address, address));
  const rpcUrl = rpc ?? local?.rpcUrl ?? undefined;
  if (rpcUrl === undefined) throw new Misuse('--asset', 'needs --rpc: the coin is looked at on its chain');
  const client = clientAt(rpcUrl);
  const chainId = await chainIdOf(client);
  const decimals = await chainCall('Reading the decimals of the coin', () =>
    client.readContract({ address, abi: stablecoinAbi, functionName: 'decimals' }),
  ).catch((error: unknown) => {
    if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
    throw new Misuse('--asset', `there is no coin at ${address} on chain ${chainId}`);
  });
  if (decimals !== DECIMALS)
    throw new Misuse('--asset', `has ${decimals} decimals, and ${DECIMALS} are reckoned with: amounts would be others`);
  return { address, chainId, rpcUrl, isLocal: local !== undefined && local.rpcUrl === rpcUrl };
}

export function clientAt(rpcUrl: string): PublicClient {
  return createEvmReader({ rpcUrl, ...REQUEST });
}

function chainIdOf(client: PublicClient): Promise<number> {
  return chainCall('Asking for the chain id', () => client.getChainId());
}

/** The coin of an address on a chain, if it may be paid with. */
export function coinOf(coins: readonly Coin[], { asset, chainId }: { asset: Address; chainId: number }): Coin | undefined {
  return coins.find((coin) => coin.chainId === chainId && isAddressEqual(coin.address, asset));
}
