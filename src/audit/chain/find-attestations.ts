import type { Address } from 'viem';
import { getBlockNumber } from 'viem/actions';
import { type AttestationLog, readAttestedLogs } from '../../chain/eas/attestation-reader.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { AuditChain } from './audit-chain.ts';

export interface AttestationSearchOptions {
  attester: Address;
  fromBlock: number;
  throughBlock: number;
  signal?: AbortSignal | undefined;
  onProgress?(done: number, total: number): void;
  /** Called for each range that was read. */
  onRange?(found: readonly AttestationLog[], nextBlock: number): void;
}

/** Initial block range of a request, reduced when the endpoint rejects it. */
const BLOCKS_PER_REQUEST = 10_000;

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readNewestBlock({ client }: AuditChain): Promise<number> {
  return Number(await chainCall('Reading the block number', () => getBlockNumber(client)));
}

/** Finds all attestations of a schema by the attester, once each, in chain order. @throws OracleError CHAIN_UNREACHABLE */
export async function findAttestations(
  chain: AuditChain,
  schema: SchemaName,
  { attester, fromBlock, throughBlock, signal, onProgress, onRange }: AttestationSearchOptions,
): Promise<AttestationLog[]> {
  const found = new Map<string, AttestationLog>();
  const range = createBlockRange(BLOCKS_PER_REQUEST);
  for (let from = fromBlock; from <= throughBlock; ) {
    signal?.throwIfAborted();
    const to = Math.min(throughBlock, from + range.size - 1);
    try {
      const logs = await readAttestedLogs(chain, { schema, attester }, { from, to });
      for (const one of logs) if (!found.has(one.uid)) found.set(one.uid, one);
      onRange?.(logs, to + 1);
    } catch (error) {
      // Endpoints have no common error code for a range that is too long.
      const isRejection = isOracleError(error, 'CHAIN_UNREACHABLE') || isOracleError(error, 'CHAIN_REVERTED');
      if (!isRejection || to === from || !range.onRejected()) throw error;
      continue;
    }
    range.onAnswered();
    onProgress?.(to - fromBlock + 1, throughBlock - fromBlock + 1);
    from = to + 1;
  }
  return [...found.values()];
}

const SHRINK_FACTOR = 10;
const GROWTH_FACTOR = 2;
/** Maximum successes before a longer range is tried again. */
const MAX_PATIENCE = 64;

/**
 * Adapts the block range of log queries to the limit of an endpoint. The range grows again after a rejection, which may be a transient
 * overload; each rejected growth doubles the number of successes before the next one.
 */
export function createBlockRange(max: number) {
  let size = max;
  let patience = 1;
  let answers = 0;
  let hasGrown = false;
  return {
    /** Blocks of the next query. */
    get size() {
      return size;
    },
    onAnswered(): void {
      if (hasGrown) patience = 1;
      hasGrown = false;
      answers += 1;
      if (answers < patience || size === max) return;
      size = Math.min(max, size * GROWTH_FACTOR);
      answers = 0;
      hasGrown = true;
    },
    /** @returns false when the range cannot shrink further */
    onRejected(): boolean {
      if (size === 1) return false;
      size = hasGrown ? Math.floor(size / GROWTH_FACTOR) : Math.max(1, Math.floor(size / SHRINK_FACTOR));
      if (hasGrown) patience = Math.min(MAX_PATIENCE, patience * 2);
      hasGrown = false;
      answers = 0;
      return true;
    },
  };
}
