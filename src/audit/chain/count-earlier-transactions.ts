import type { Address } from 'viem';
import { easAbi } from '../../chain/eas/abi.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { AuditChain } from './audit-chain.ts';

/** Transactions and delegated attestations of a wallet before a block; null when the endpoint has no archive state of it. */
export async function countEarlierTransactions(
  { client, addresses }: AuditChain,
  { attester, fromBlock }: { attester: Address; fromBlock: number },
): Promise<number | null> {
  if (fromBlock === 0) return 0;
  const at = { blockNumber: BigInt(fromBlock - 1) };
  const signed = { address: addresses.eas, abi: easAbi, functionName: 'getNonce', args: [attester] } as const;
  try {
    const sent = await chainCall('Counting transactions', () => client.getTransactionCount({ address: attester, ...at }));
    return sent + Number(await chainCall('Counting signed attestations', () => client.readContract({ ...signed, ...at })));
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE') || isOracleError(error, 'CHAIN_REVERTED')) return null;
    throw error;
  }
}
