import type { Address, Hex } from 'viem';
import type { AttestationLog } from '../../chain/eas/attestation-reader.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import type { AttestationEvidence } from '../../verify/evidence.ts';
import { type AuditChain, readAttestation, readBlockTime, readInBatches } from './audit-chain.ts';
import { findAttestations } from './find-attestations.ts';

const SCHEMAS = ['prediction', 'resolution'] as const;

/** What has been read of a record; a reading that was interrupted continues with it. */
export interface ReadingState {
  found: Record<SchemaName, AttestationLog[]>;
  /** First block whose events have not been read. */
  nextBlock: Record<SchemaName, number>;
  contents: Map<Hex, RawAttestation>;
  /** By block number. */
  blockTimes: Map<number, Date>;
}

export function createReadingState(fromBlock: number): ReadingState {
  return {
    found: { prediction: [], resolution: [] },
    nextBlock: { prediction: fromBlock, resolution: fromBlock },
    contents: new Map(),
    blockTimes: new Map(),
  };
}

export interface ReadRecordOptions {
  attester: Address;
  throughBlock: number;
  signal?: AbortSignal | undefined;
  onProgress(stage: string, done: number, total: number): void;
}

/**
 * Reads the attester's attestations with their blocks, in chain order; `state` is extended as they come.
 * @throws OracleError CHAIN_UNREACHABLE; the reason of `signal`
 */
export async function readRecord(chain: AuditChain, state: ReadingState, options: ReadRecordOptions): Promise<AttestationEvidence[]> {
  const { found, contents, blockTimes } = state;
  for (const schema of SCHEMAS) {
    await findNew(chain, schema, state, options);
    await readContents(chain, schema, state, options);
  }
  return SCHEMAS.flatMap((schema) =>
    found[schema].map(({ uid, blockNumber }) => {
      return { uid, schema, content: contents.get(uid) ?? null, blockAt: blockTimes.get(blockNumber) ?? null };
    }),
  );
}

async function findNew(
  chain: AuditChain,
  schema: SchemaName,
  { found, nextBlock }: ReadingState,
  options: ReadRecordOptions,
): Promise<void> {
  const { attester, throughBlock, signal } = options;
  const known = new Set(found[schema].map(({ uid }) => uid));
  await findAttestations(chain, schema, {
    ...{ attester, fromBlock: nextBlock[schema], throughBlock, signal },
    onProgress: (done, total) => options.onProgress(`looking for ${schema}s`, done, total),
    onRange(logs, next) {
      for (const log of logs) if (!known.has(log.uid)) found[schema].push(log);
      for (const { uid } of logs) known.add(uid);
      nextBlock[schema] = next;
    },
  });
}

async function readContents(chain: AuditChain, schema: SchemaName, state: ReadingState, options: ReadRecordOptions): Promise<void> {
  const { contents, blockTimes } = state;
  const batches = { parallel: chain.parallel, signal: options.signal };
  const logs = state.found[schema];
  const unread = logs.filter(({ uid }) => !contents.has(uid));
  await readInBatches(unread, {
    ...batches,
    read: async ({ uid }) => void contents.set(uid, await readAttestation(chain, uid)),
    onRead: (done) => options.onProgress(`reading ${schema}s`, logs.length - unread.length + done, logs.length),
  });
  const undated = [...new Set(logs.map(({ blockNumber }) => blockNumber))].filter((blockNumber) => !blockTimes.has(blockNumber));
  await readInBatches(undated, {
    ...batches,
    read: async (blockNumber) => void blockTimes.set(blockNumber, await readBlockTime(chain, blockNumber)),
    onRead: () => {},
  });
}
