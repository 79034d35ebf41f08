import { LRUCache } from 'lru-cache';
import { createCache } from '../../platform/cache.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { buildDatasetFiles, type DatasetFormat } from './build-files.ts';
import { readContentKey } from './content-key.ts';
import { countChunks, type DatasetFileStore, type StoredBytes, type StoredFile } from './file-store.ts';
import { type DatasetRowsDeps, readRowsByYear } from './rows.ts';
import type { TableName } from './tables.ts';

const MAX_CACHED_BYTES = 4 * 2 ** 20;

export interface DatasetDeps extends DatasetRowsDeps {
  record: DatasetRowsDeps['record'] & Pick<ForecastRecord, 'revision'>;
  store: Pick<DatasetFileStore, 'find' | 'save' | 'readChunk'>;
}

/**
 * The resolved record as files. They are built once after a revelation, by the worker after the step that made it or by the first process
 * that reads them, and stored: a request reads stored chunks alone.
 */
export class DatasetService {
  readonly #deps: DatasetDeps;
  readonly #builds = createCache<StoredFile[]>('dataset-builds', 2);
  readonly #chunks = new LRUCache<string, Buffer>({ maxSize: MAX_CACHED_BYTES, sizeCalculation: (chunk) => chunk.length || 1 });

  constructor(deps: DatasetDeps) {
    this.#deps = deps;
  }

  async listFiles(): Promise<StoredFile[]> {
    const revision = await this.#deps.record.revision.read();
    return this.#builds.get(revision, () => this.#load());
  }

  async getFile(table: TableName, format: DatasetFormat): Promise<StoredFile> {
    const files = await this.listFiles();
    return files.find((file) => file.table === table && file.format === format)!;
  }

  async *readChunks(stored: StoredBytes): AsyncGenerator<Buffer> {
    for (let number = 0; number < countChunks(stored.bytes); number++) yield await this.#readChunk(stored, number);
  }

  /** Builds what the newest revision lacks. */
  async refresh(): Promise<void> {
    await this.listFiles();
  }

  async #load(): Promise<StoredFile[]> {
    const { store } = this.#deps;
    const key = await readContentKey(this.#deps.record);
    return (await store.find(key)) ?? store.save(key, await buildDatasetFiles(readRowsByYear(this.#deps)));
  }

  async #readChunk(stored: StoredBytes, number: number): Promise<Buffer> {
    const id = `${stored.id}:${number}`;
    const cached = this.#chunks.get(id);
    if (cached !== undefined) return cached;
    const chunk = await this.#deps.store.readChunk(stored, number);
    this.#chunks.set(id, chunk);
    return chunk;
  }
}
