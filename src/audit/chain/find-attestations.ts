import type { Address } from 'viem';
import { type AttestationLog, readAttestedLogs } from '../../chain/eas/attestation-reader.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { AuditChain } from './audit-chain.ts';

export interface AttestationSearch {
  attester: Address;
  fromBlock: number;
  throughBlock: number;
  signal?: AbortSignal | undefined;
  /** Called for each range that was read. */
  onRange?(found: readonly AttestationLog[], nextBlock: number): void;
}

/** Initial block range of a request, reduced when the endpoint rejects it. */
const BLOCKS_PER_REQUEST = 10_000;

/** Finds all attestations of a schema by the attester, once each, in chain order. @throws OracleError CHAIN_UNREACHABLE */
export async function findAttestations(chain: AuditChain, schema: SchemaName, options: AttestationSearch): Promise<AttestationLog[]> {
  const { attester, fromBlock, throughBlock, signal, onRange } = options;
  const found = new Map<string, AttestationLog>();
  const range = createBlockRange(BLOCKS_PER_REQUEST);
  for (let from = fromBlock; from <= throughBlock; ) {
    signal?.throwIfAborted();
    const to = Math.min(throughBlock, from + range.size - 1);
    const logs = await readAttestedLogs(chain, { schema, attester }, { from, to }).catch((error: unknown) => {
      // Endpoints have no common error code for a range that is too long.
      if (to > from && range.onRejected()) return null;
      throw error;
    });
    if (logs === null) continue;
    for (const one of logs) if (!found.has(one.uid)) found.set(one.uid, one);
    range.onAnswered();
    onRange?.(logs, to + 1);
    from = to + 1;
  }
  return [...found.values()];
}

const SHRINK_FACTOR = 8;
const GROWTH_FACTOR = 2;
/** Answers after which a rejected range is tried again, since a rejection may be a transient overload. */
const PATIENCE = 64;

/** Adapts the block range of log queries to the limit of an endpoint: it shrinks when rejected, and grows below the rejected size. */
export function createBlockRange(max: number) {
  let rejected = Number.POSITIVE_INFINITY;
  let answers = 0;
  const range = {
    /** Blocks of the next query. */
    size: max,
    onAnswered(): void {
      answers += 1;
      if (answers % PATIENCE === 0) rejected = Number.POSITIVE_INFINITY;
      if (range.size * GROWTH_FACTOR < rejected) range.size = Math.min(max, range.size * GROWTH_FACTOR);
    },
    /** @returns false when the range cannot shrink further */
    onRejected(): boolean {
      [rejected, range.size] = [range.size, Math.max(1, Math.floor(range.size / SHRINK_FACTOR))];
      return rejected > 1;
    },
  };
  return range;
}
