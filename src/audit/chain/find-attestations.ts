import type { Address } from 'viem';
import { type AttestationLog, createAttestationReader } from '../../chain/eas/attestation-reader.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { AuditChain } from './audit-chain.ts';
import { createBlockRange } from './block-range.ts';

export interface AttestationSearchOptions {
  attester: Address;
  fromBlock: number;
  throughBlock: number;
  /** Initial block range, reduced when the endpoint rejects it; default 10,000. */
  blocksPerRequest?: number;
  signal?: AbortSignal | undefined;
  onProgress?(done: number, total: number): void;
  /** Called for each range that was read. */
  onRange?(found: readonly AttestationLog[], nextBlock: number): void;
}

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readNewestBlock({ client }: AuditChain): Promise<number> {
  return Number(await chainCall('Reading the block number', () => client.getBlockNumber()));
}

/** Finds all attestations of a schema by the attester, once each, in chain order. @throws OracleError CHAIN_UNREACHABLE */
export async function findAttestations(
  chain: AuditChain,
  schema: SchemaName,
  options: AttestationSearchOptions,
): Promise<AttestationLog[]> {
  const { attester, fromBlock, throughBlock, signal, onProgress, onRange } = options;
  const reader = createAttestationReader(chain);
  const found = new Map<string, AttestationLog>();
  const range = createBlockRange(options.blocksPerRequest ?? 10_000);
  for (let from = fromBlock; from <= throughBlock; ) {
    signal?.throwIfAborted();
    const to = Math.min(throughBlock, from + range.size - 1);
    try {
      const logs = await reader.find({ schema, attester, fromBlock: from, toBlock: to, blocksPerRequest: range.size });
      for (const one of logs) if (!found.has(one.uid)) found.set(one.uid, one);
      onRange?.(logs, to + 1);
    } catch (error) {
      if (!isEndpointRejection(error) || to === from || !range.onRejected()) throw error;
      continue;
    }
    range.onAnswered();
    onProgress?.(to - fromBlock + 1, throughBlock - fromBlock + 1);
    from = to + 1;
  }
  return [...found.values()];
}

/** Endpoints have no common error code for a range that is too long. */
function isEndpointRejection(error: unknown): boolean {
  return isOracleError(error, 'CHAIN_UNREACHABLE') || isOracleError(error, 'CHAIN_REVERTED');
}
