import type { Hex } from 'viem';
import type { AttestationLog } from '../../chain/eas/attestation-reader.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import type { AttestationEvidence } from '../../verify/evidence.ts';
import { type AuditChain, readAttestation, readBlock, readInBatches } from './audit-chain.ts';
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
      logs.push(...found);
      nextBlock[schema] = next;
      onProgress?.(`looking for ${schema}s`, next - fromBlock, throughBlock + 1 - fromBlock);
    },
  });
  const onRead = () => onProgress?.(`reading ${schema}s`, logs.filter(({ uid }) => contents.has(uid)).length, logs.length);
  const batches = { parallel: chain.parallel, signal, onRead };
  const uids = logs.map(({ uid }) => uid).filter((uid) => !contents.has(uid));
  await readInBatches(uids, { ...batches, read: async (uid) => void contents.set(uid, await readAttestation(chain, uid)) });
  const blocks = new Set(logs.map(({ blockNumber }) => blockNumber).filter((blockNumber) => !blockTimes.has(blockNumber)));
  await readInBatches([...blocks], { ...batches, read: async (block) => void blockTimes.set(block, (await readBlock(chain, block)).at) });
  return logs.map(({ uid, blockNumber }) => {
    return { uid, schema, content: contents.get(uid) ?? null, blockAt: blockTimes.get(blockNumber) ?? null };
  });
}
