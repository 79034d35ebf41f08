import type { Hex } from 'viem';
import type { AttestationLog } from '../../chain/eas/attestation-reader.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import type { AttestationEvidence } from '../../verify/evidence.ts';
import { type AuditChain, readAttestations, readBlock, readInBatches } from './audit-chain.ts';
import { type AttestationSearch, findAttestations } from './find-attestations.ts';

/** What has been read of a record; a reading that was interrupted continues with it. */
export type ReadingState = ReturnType<typeof createReadingState>;

export function createReadingState(fromBlock: number) {
  return {
    found: { prediction: [] as AttestationLog[], resolution: [] as AttestationLog[] },
    /** First block whose events have not been read. */
    nextBlock: { prediction: fromBlock, resolution: fromBlock },
    contents: new Map<Hex, RawAttestation>(),
    /** By block number. */
    blockTimes: new Map<number, Date>(),
  };
}

interface ReadRecordOptions extends Pick<AttestationSearch, 'attester' | 'throughBlock' | 'signal'> {
  onProgress?(stage: string, done: number, total: number): void;
}

/**
 * Reads the attester's attestations with their blocks, in chain order; `state` is extended as they come.
 * @throws OracleError CHAIN_UNREACHABLE; the reason of `signal`
 */
export async function readRecord(chain: AuditChain, state: ReadingState, options: ReadRecordOptions): Promise<AttestationEvidence[]> {
  return [...(await readSchema(chain, 'prediction', state, options)), ...(await readSchema(chain, 'resolution', state, options))];
}

/** Of one schema; see `readRecord`. */
export async function readSchema<S extends SchemaName>(chain: AuditChain, schema: S, state: ReadingState, options: ReadRecordOptions) {
  const { nextBlock, contents, blockTimes } = state;
  const { attester, throughBlock, signal, onProgress } = options;
  const [logs, fromBlock] = [state.found[schema], nextBlock[schema]];
  await findAttestations(chain, schema, {
    ...{ attester, fromBlock, throughBlock, signal },
    onRange(found, next) {
      for (const { blockAt, ...log } of found) {
        logs.push(log);
        if (blockAt !== undefined) blockTimes.set(log.blockNumber, blockAt);
      }
      nextBlock[schema] = next;
      onProgress?.(`looking for ${schema}s`, next - fromBlock, throughBlock + 1 - fromBlock);
    },
  });
  const uids = logs.map(({ uid }) => uid).filter((uid) => !contents.has(uid));
  let read = logs.length - uids.length;
  await readAttestations(chain, uids, {
    signal,
    onRead(uid, content) {
      contents.set(uid, content);
      read += 1;
      onProgress?.(`reading ${schema}s`, read, logs.length);
    },
  });
  const blocks = new Set(logs.map(({ blockNumber }) => blockNumber).filter((blockNumber) => !blockTimes.has(blockNumber)));
  const readTime = async (block: number) => void blockTimes.set(block, (await readBlock(chain, block)).at);
  await readInBatches([...blocks], { parallel: chain.parallel, signal, read: readTime });
  return logs.map(({ uid, blockNumber }) => {
    return { uid, schema, content: contents.get(uid) ?? null, blockAt: blockTimes.get(blockNumber) ?? null };
  });
}
