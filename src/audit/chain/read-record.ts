import type { Hex } from 'viem';
import type { AttestationLog } from '../../chain/eas/attestation-reader.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import type { AttestationEvidence } from '../../verify/evidence.ts';
import { type AuditChain, readAttestation, readBlock, readInBatches } from './audit-chain.ts';
import { type AttestationSearchOptions, findAttestations } from './find-attestations.ts';

const SCHEMAS = ['prediction', 'resolution'] as const;

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

interface ReadRecordOptions extends Pick<AttestationSearchOptions, 'attester' | 'throughBlock' | 'signal'> {
  onProgress(stage: string, done: number, total: number): void;
}

/**
 * Reads the attester's attestations with their blocks, in chain order; `state` is extended as they come.
 * @throws OracleError CHAIN_UNREACHABLE; the reason of `signal`
 */
export async function readRecord(chain: AuditChain, state: ReadingState, options: ReadRecordOptions): Promise<AttestationEvidence[]> {
  const { found, contents, blockTimes } = state;
  for (const schema of SCHEMAS) await readSchema(chain, schema, state, options);
  const toEvidence = (schema: SchemaName, { uid, blockNumber }: AttestationLog) => {
    return { uid, schema, content: contents.get(uid) ?? null, blockAt: blockTimes.get(blockNumber) ?? null };
  };
  return SCHEMAS.flatMap((schema) => found[schema].map((log) => toEvidence(schema, log)));
}

async function readSchema(chain: AuditChain, schema: SchemaName, state: ReadingState, options: ReadRecordOptions): Promise<void> {
  const { found, nextBlock, contents, blockTimes } = state;
  const { attester, throughBlock, signal, onProgress } = options;
  const fromBlock = nextBlock[schema];
  await findAttestations(chain, schema, {
    ...{ attester, fromBlock, throughBlock, signal },
    onRange(logs, next) {
      found[schema].push(...logs);
      nextBlock[schema] = next;
      onProgress(`looking for ${schema}s`, next - fromBlock, throughBlock + 1 - fromBlock);
    },
  });
  const logs = found[schema];
  const onRead = () => onProgress(`reading ${schema}s`, logs.filter(({ uid }) => contents.has(uid)).length, logs.length);
  const batches = { parallel: chain.parallel, signal, onRead };
  const uids = logs.map(({ uid }) => uid).filter((uid) => !contents.has(uid));
  await readInBatches(uids, { ...batches, read: async (uid) => void contents.set(uid, await readAttestation(chain, uid)) });
  const blocks = new Set(logs.map(({ blockNumber }) => blockNumber).filter((blockNumber) => !blockTimes.has(blockNumber)));
  await readInBatches([...blocks], { ...batches, read: async (block) => void blockTimes.set(block, (await readBlock(chain, block)).at) });
}
