import { type Address, parseAbi } from 'viem';
import { isOracleError, OracleError } from '../platform/errors.ts';
import type { Chain } from './client.ts';
import { chainCall } from './rpc/chain-call.ts';

const gateTokenAbi = parseAbi(['function balanceOf(address account) view returns (uint256)', 'function decimals() view returns (uint8)']);

export interface GateBalance {
  /** In the token's smallest unit. */
  balance: bigint;
  /** The block it was read at. */
  blockNumber: number;
}

/**
 * Gate tokens (ERC-20) of a wallet at a block, by default the newest.
 * @throws OracleError CHAIN_UNREACHABLE, also when the endpoint no longer has the state of that block.
 */
export async function readGateBalance({ client, addresses }: Chain, wallet: Address, atBlock?: number): Promise<GateBalance> {
  return readToken('Reading the gate balance', async () => {
    const blockNumber = atBlock === undefined ? await client.getBlockNumber() : BigInt(atBlock);
    const call = { address: addresses.gateToken, abi: gateTokenAbi, functionName: 'balanceOf', args: [wallet], blockNumber } as const;
    return { balance: await client.readContract(call), blockNumber: Number(blockNumber) };
  });
}

/**
 * Gate tokens of a wallet at the newest block that counts, which no short reorganisation undoes.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function readConfirmedGateBalance(chain: Chain, wallet: Address): Promise<GateBalance> {
  const newest = await chainCall('Asking for the newest block', () => chain.client.getBlockNumber());
  return readGateBalance(chain, wallet, Math.max(0, Number(newest) - chain.confirmations + 1));
}

/** Decimals of the gate token. @throws OracleError CHAIN_UNREACHABLE */
export async function readGateDecimals({ client, addresses }: Chain): Promise<number> {
  return readToken('Reading the decimals of the gate token', () =>
    client.readContract({ address: addresses.gateToken, abi: gateTokenAbi, functionName: 'decimals' }),
  );
}

/** A token that is there never refuses to be read: an endpoint that says so has not got its code, or the state of that block. */
async function readToken<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await chainCall(what, read);
  } catch (cause) {
    if (!isOracleError(cause, 'CHAIN_REVERTED')) throw cause;
    throw new OracleError('CHAIN_UNREACHABLE', cause.message, { suggestedAction: 'Try again later.', cause });
  }
}
