import type { Address, Hex } from 'viem';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import type { SignedPayment } from './authorization.ts';
import { type Coin, createRpcClient, findCoin } from './coins.ts';

/** `open`: not used, and still valid by the clock of the chain. `unknown`: no endpoint of the chain is known. */
type AuthorizationState = 'used' | 'unused' | 'open' | 'unknown';

/** The on-chain state of an authorization (EIP-3009), without trusting the seller. @throws OracleError CHAIN_UNREACHABLE, CHAIN_REVERTED */
export async function readAuthorizationState({ accepted, payload }: SignedPayment, coins: readonly Coin[]): Promise<AuthorizationState> {
  const { asset, network } = accepted as { asset: Address; network: string };
  const rpcUrl = findCoin(coins, { asset, chainId: Number(network.split(':')[1]) })?.rpcUrl;
  if (rpcUrl == null) return 'unknown';
  const client = createRpcClient(rpcUrl);
  const { from, nonce, validBefore } = payload.authorization;
  // On a quiet chain the newest block is old; the pending block is the one that could still use it.
  const { timestamp } = await chainCall('Reading the clock of the chain', () => client.getBlock({ blockTag: 'pending' }));
  const args = [from as Address, nonce as Hex] as const;
  const call = { address: asset, abi: stablecoinAbi, functionName: 'authorizationState', args } as const;
  const isUsed = await chainCall('Reading what became of the payment', () => client.readContract(call));
  return isUsed ? 'used' : timestamp < BigInt(validBefore) ? 'open' : 'unused';
}
