import type { Address } from 'viem';
import { easAbi } from '../../chain/eas/abi.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { AuditChain } from '../chain/audit-chain.ts';
import type { Findings } from './findings.ts';

/**
 * Detects a hidden earlier record: an operator who restarts at sequence 1 would drop past losses. A record read from a later block is
 * complete only if the wallet had sent no transaction and signed no delegated attestation before it.
 */
export async function checkFirstBlock(
  chain: AuditChain,
  { attester, fromBlock }: { attester: Address; fromBlock: number },
  findings: Findings,
): Promise<void> {
  if (fromBlock === 0) return;
  const count = await countTransactionsBefore(chain, attester, fromBlock);
  if (count === 0) return;
  const why = count === null ? 'the endpoint has no state before it' : 'the wallet had sent transactions before it';
  findings.addGap(`the record is read from block ${fromBlock}, and ${why}: an earlier record may exist (omit --from-block)`);
}

/** Transactions and delegated attestations of a wallet before a block; null when the endpoint has no archive state of it. */
async function countTransactionsBefore({ client, addresses }: AuditChain, attester: Address, fromBlock: number): Promise<number | null> {
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
