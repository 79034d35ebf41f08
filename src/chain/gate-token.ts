import { type Address, erc20Abi } from 'viem';
import { isOracleError, OracleError } from '../platform/errors.ts';
import type { Chain } from './client.ts';
import { readConfirmedBlockNumber } from './rpc/block-depth.ts';
import { chainCall } from './rpc/chain-call.ts';

export interface GateBalance {
  /** In the token's smallest unit. */
  balance: bigint;
  blockNumber: number;
}

/** By default at the latest block. @throws OracleError CHAIN_UNREACHABLE, also when the endpoint has pruned the state of that block */
export async function readGateBalance({ client, addresses }: Chain, wallet: Address, atBlock?: number): Promise<GateBalance> {
  return readToken('Reading the gate balance', async () => {
    const blockNumber = atBlock === undefined ? await client.getBlockNumber() : BigInt(atBlock);
    const call = { address: addresses.gateToken, abi: erc20Abi, functionName: 'balanceOf', args: [wallet], blockNumber } as const;
    return { balance: await client.readContract(call), blockNumber: Number(blockNumber) };
  });
}

/** At the confirmation depth, which no short reorganisation reverts. @throws OracleError CHAIN_UNREACHABLE */
export async function readConfirmedGateBalance(chain: Chain, wallet: Address): Promise<GateBalance> {
  return readGateBalance(chain, wallet, Math.max(0, Number(await readConfirmedBlockNumber(chain))));
}

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readGateDecimals({ client, addresses }: Chain): Promise<number> {
  return readToken('Reading the decimals of the gate token', () =>
    client.readContract({ address: addresses.gateToken, abi: erc20Abi, functionName: 'decimals' }),
  );
}

/** ERC-20 reads never revert: a revert means that the endpoint lacks the contract's code or the state of that block. */
async function readToken<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await chainCall(what, read);
  } catch (cause) {
    if (!isOracleError(cause, 'CHAIN_REVERTED')) throw cause;
    throw new OracleError('CHAIN_UNREACHABLE', cause.message, { suggestedAction: 'Try again later.', cause });
  }
}
