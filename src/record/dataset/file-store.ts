import { Binary, type Collection, type Db } from 'mongodb';
import { OracleError } from '../../platform/errors.ts';
import type { BuiltFile } from './build-files.ts';

const CHUNK_BYTES = 262_144;

/** Chunks of an earlier build stay for downloads that are under way. */
const KEPT_MS = 3_600_000;

/** Bytes in one content coding. */
export interface StoredBytes {
  /** First part of the ids of its chunks. */
  id: string;
  bytes: number;
}

export interface StoredFile extends Omit<BuiltFile, 'content' | 'gzipped'> {
  identity: StoredBytes;
  gzip: StoredBytes | null;
}

interface BuildDoc {
  _id: 'dataset';
  /** What the files were built from: `readContentKey`. */
  key: string;
  files: StoredFile[];
}

interface ChunkDoc {
  /** `<sha256>:<coding>:<number>`: written again, it is the same. */
  _id: string;
  file: string;
  data: Binary;
  at: Date;
}

export const DATASET_INDEXES = [{ collection: 'dataset_chunks', indexes: [{ key: { file: 1 } }] }];

/** The files of the dataset in the database, in chunks. The newest build stays. */
export class DatasetFileStore {
  readonly #builds: Collection<BuildDoc>;
  readonly #chunks: Collection<ChunkDoc>;
  readonly #now: () => Date;

  constructor(db: Db, now: () => Date) {
    this.#builds = db.collection('dataset_builds');
    this.#chunks = db.collection('dataset_chunks');
    this.#now = now;
  }

  async find(key: string): Promise<StoredFile[] | null> {
    return (await this.#builds.findOne({ _id: 'dataset', key }))?.files ?? null;
  }

  async save(key: string, built: readonly BuiltFile[]): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    for (const { content, gzipped, ...file } of built) {
      const identity = await this.#saveBytes(`${file.sha256}:identity`, content);
      files.push({ ...file, identity, gzip: gzipped === null ? null : await this.#saveBytes(`${file.sha256}:gzip`, gzipped) });
    }
    await this.#builds.replaceOne({ _id: 'dataset' }, { key, files }, { upsert: true });
    await this.#deleteOld(files);
    return files;
  }

  async readChunk({ id }: StoredBytes, number: number): Promise<Buffer> {
    const chunk = await this.#chunks.findOne({ _id: `${id}:${number}` });
    if (chunk === null) throw new OracleError('INTERNAL', `Part ${number} of the dataset file ${id} is missing`);
    return Buffer.from(chunk.data.buffer);
  }

  async #saveBytes(id: string, content: Buffer): Promise<StoredBytes> {
    const at = this.#now();
    for (let number = 0; number < countChunks(content.length); number++) {
      const data = new Binary(content.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES));
      await this.#chunks.replaceOne({ _id: `${id}:${number}` }, { file: id, data, at }, { upsert: true });
    }
    return { id, bytes: content.length };
  }

  async #deleteOld(files: readonly StoredFile[]): Promise<void> {
    const kept = files.flatMap(({ identity, gzip }) => [identity.id, ...(gzip === null ? [] : [gzip.id])]);
    await this.#chunks.deleteMany({ file: { $nin: kept }, at: { $lt: new Date(this.#now().getTime() - KEPT_MS) } });
  }
}

export function countChunks(bytes: number): number {
  return Math.ceil(bytes / CHUNK_BYTES);
}
