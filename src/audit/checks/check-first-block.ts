import type { Address } from 'viem';
import { easAbi } from '../../chain/eas/abi.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { AuditChain } from '../chain/audit-chain.ts';
import type { Findings } from './findings.ts';

/**
 * Whoever begins again with sequence 1 has a record without losses: what is read from a later block is the whole of it only if the
 * wallet had never sent a transaction before, nor signed an attestation that somebody else sent.
 */
export async function checkFirstBlock(
  chain: AuditChain,
  { attester, fromBlock }: { attester: Address; fromBlock: number },
  findings: Findings,
): Promise<void> {
  if (fromBlock === 0) return;
  const count = await countTransactionsBefore(chain, attester, fromBlock);
  if (count === 0) return;
  const why = count === null ? 'and the endpoint does not tell what it had sent before' : 'by when it had sent transactions already';
  findings.addGap(`the wallet is read from block ${fromBlock} on, ${why}: an earlier record may be there (leave --from-block out)`);
}

/** Transactions and signed attestations of a wallet before a block; null where the endpoint has no state of that time. */
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
