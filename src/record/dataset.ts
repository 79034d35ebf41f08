import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { SchemaElement } from 'hyparquet-writer';
import { LRUCache } from 'lru-cache';
import { Binary, type Collection, type Db } from 'mongodb';
import { OracleError } from '../errors.ts';
import { HORIZONS } from '../forecast/model.ts';
import { createCache } from '../platform/concurrency.ts';
import {
  type CellValue,
  type ColumnType,
  DATASET_TABLES,
  type DatasetColumn,
  type DatasetRows,
  readRowsByYear,
  TABLE_NAMES,
  type TableName,
} from './dataset-tables.ts';
import type { ModelStore } from './model-card.ts';
import type { RecordProjection } from './projection.ts';

const MAX_CACHED_BYTES = 4 * 2 ** 20;

/**
 * The resolved record as files. They are built once after a revelation, by the worker after the step that made it or by the first process
 * that reads them, and stored: a request reads stored chunks alone.
 */
export class DatasetService {
  readonly #known: RecordProjection;
  readonly #models: ModelStore;
  readonly #store: Pick<DatasetFileStore, 'find' | 'save' | 'readChunk'>;
  readonly #now: () => Date;
  readonly #builds = createCache<StoredFile[]>('dataset-builds', 2);
  readonly #chunks = new LRUCache<string, Buffer>({ maxSize: MAX_CACHED_BYTES, sizeCalculation: (chunk) => chunk.length || 1 });

  constructor(known: RecordProjection, models: ModelStore, store: Pick<DatasetFileStore, 'find' | 'save' | 'readChunk'>, now: () => Date) {
    this.#known = known;
    this.#models = models;
    this.#store = store;
    this.#now = now;
  }

  async listFiles(): Promise<StoredFile[]> {
    return this.#builds.get(this.#known.revisions.forecasts, () => this.#load());
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
    const key = buildContentKey(this.#known);
    const rows = () => readRowsByYear(this.#known, this.#models, this.#now());
    return (await this.#store.find(key)) ?? this.#store.save(key, await buildDatasetFiles(rows()));
  }

  async #readChunk(stored: StoredBytes, number: number): Promise<Buffer> {
    const id = `${stored.id}:${number}`;
    const cached = this.#chunks.get(id);
    if (cached !== undefined) return cached;
    const chunk = await this.#store.readChunk(stored, number);
    this.#chunks.set(id, chunk);
    return chunk;
  }
}

export const DATASET_FORMATS = ['csv', 'parquet'] as const;

export type DatasetFormat = (typeof DATASET_FORMATS)[number];

interface BuiltFile {
  name: `${TableName}.${DatasetFormat}`;
  table: TableName;
  format: DatasetFormat;
  rows: number;
  /** SHA-256 of the content, hex. */
  sha256: string;
  content: Buffer;
  /** Compressed content; null for a format that is compressed itself. */
  gzipped: Buffer | null;
}

const compress = promisify(gzip);

/** Builds all files in one pass over the rows. Equal rows give equal bytes. */
async function buildDatasetFiles(batches: AsyncIterable<DatasetRows>): Promise<BuiltFile[]> {
  const builds = await Promise.all(TABLE_NAMES.map(startTable));
  for await (const batch of batches) {
    for (const build of builds) {
      build.rows += batch[build.name].length;
      for (const format of DATASET_FORMATS) build.encoders[format].add(batch[build.name]);
    }
  }
  const files: BuiltFile[] = [];
  for (const { name: table, rows, encoders } of builds) {
    for (const format of DATASET_FORMATS) {
      const content = encoders[format].finish();
      const sha256 = createHash('sha256').update(content).digest('hex');
      const gzipped = format === 'csv' ? await compress(content) : null;
      files.push({ name: `${table}.${format}`, table, format, rows, sha256, content, gzipped });
    }
  }
  return files;
}

async function startTable(name: TableName) {
  const { title, description, columns } = DATASET_TABLES[name];
  const footer = {
    title: `${DATASET_TITLE}: ${title}`,
    description,
    version: DATASET_VERSION,
    licence: JSON.stringify(DATASET_LICENCE),
    columns: JSON.stringify(columns.map(({ name: column, description: meaning }) => [column, meaning])),
  };
  // Each table gets the rows of its own name.
  const own = columns as Parameters<typeof createCsvEncoder<unknown>>[0];
  return { name, rows: 0, encoders: { csv: createCsvEncoder(own), parquet: await createParquetEncoder(own, footer) } };
}

/** RFC 4180 with `\n`; null is an empty cell, times are ISO 8601. */
function createCsvEncoder<Row>(columns: readonly DatasetColumn<Row>[]): TableEncoder<Row> {
  const formatLine = (cells: readonly string[]) => `${cells.join(',')}\n`;
  const batches = [Buffer.from(formatLine(columns.map(({ name }) => name)))];
  return {
    add(rows) {
      const lines = rows.map((row) => formatLine(columns.map((column) => formatCell(column.value(row)))));
      batches.push(Buffer.from(lines.join('')));
    },
    finish: () => Buffer.concat(batches),
  };
}

/** Encodes a table in batches of rows. */
interface TableEncoder<Row> {
  add(rows: readonly Row[]): void;
  finish(): Buffer;
}

function formatCell(value: CellValue): string {
  if (value === null) return '';
  const text = value instanceof Date ? value.toISOString() : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What the dataset is, for its index, the footers of its Parquet files and the documents. */
export const DATASET_TITLE = 'Bitcoin Signal Oracle: the resolved record';

/** Version of tables and columns; one that changes or goes raises it. */
export const DATASET_VERSION = '2';

export const DATASET_LICENCE = {
  id: 'CC-BY-4.0',
  url: 'https://creativecommons.org/licenses/by/4.0/',
  covers: "The record's own values: forecasts, probabilities, scores, outcomes, digests and attestations.",
  prices:
    'Columns with origin `prices` are derived: prices and closes are medians over venues, returns and price quantiles follow from ' +
    'them. No price of a single venue and no other series of a provider is included. The terms of the venues may restrict their use.',
  attribution: 'Name the service, its URL and the date of the download.',
} as const;

/** Sections of the data card, in order. */
export const DATA_CARD: readonly { title: string; text: string }[] = [
  {
    title: 'Content',
    text: 'Every forecast of BTC/USD over 1, 2, 3 and 7 days whose outcome is on chain: what was committed before its outcome window opened, what happened, and how it scores. Forecasts without a resolution on chain are absent, whatever the caller has paid for.',
  },
  {
    title: 'Collection',
    text: 'The service makes one forecast a day and horizon at 21:35 UTC, commits to it by an attestation on chain, and reveals it in a second one after the window has ended. The files are built from the same record as the scorecard.',
  },
  {
    title: 'Selection',
    text: 'No forecast is chosen: void, missed and pending ones are absent and leave a gap in `sequence`. Rows with `replayed` were made afterwards by the replay of a demonstration and prove no skill.',
  },
  {
    title: 'Dependence',
    text: 'Windows longer than a day overlap, so that neighbouring rows are not independent: use block resampling, or every h-th row. Horizons of one day share their inputs.',
  },
  {
    title: 'Prices',
    text: 'The outcome compares daily closes, 00:00 UTC, each the median of venues within 1 %. CRPS and PIT score the log return from the price at signal time.',
  },
  {
    title: 'Verification',
    text: 'Each row names its attestations and transactions. `svc verify` and `npm run audit` recompute the record from the chain and public prices. The index has the SHA-256 of each file.',
  },
  {
    title: 'Limits',
    text: 'Digests show that inputs did not change afterwards, not what they were. CRPS is empty where the coefficients of the model version are missing. No personal data is included.',
  },
];

const ELEMENTS: Record<ColumnType, Omit<SchemaElement, 'name'>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    // By the converted type alone, readers such as DuckDB take the time for local time.
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
};

/** Each batch is a row group; all columns are optional. @param metadata key-value pairs of the file's footer */
async function createParquetEncoder<Row>(
  columns: readonly DatasetColumn<Row>[],
  metadata: Readonly<Record<string, string>>,
): Promise<TableEncoder<Row>> {
  // Imported on demand: only a process that builds the files needs it.
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...ELEMENTS[type] })),
    ],
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    createdBy: 'bitcoin-signal-oracle',
  });
  return {
    add(rows) {
      if (rows.length === 0) return;
      const columnData = columns.map(({ name, type, value }) => {
        const cells = rows.map((row) => value(row) ?? undefined);
        return { name, data: type === 'date' ? cells.map((cell) => cell && new Date(cell as string)) : cells };
      });
      requireDone(file.write({ columnData, rowGroupSize: rows.length }));
    },
    finish() {
      requireDone(file.finish());
      return Buffer.from(bytes.getBytes());
    },
  };
}

/** Writing into memory is synchronous. */
function requireDone(written: void | Promise<void>): void {
  if (written !== undefined) throw new OracleError('INTERNAL', 'The Parquet writer did not finish at once');
}

/** Equal keys, equal files: of the columns, and of the number of resolutions on chain with the newest one. */
function buildContentKey(known: RecordProjection): string {
  const resolutions = HORIZONS.map((horizonDays) => {
    const reveals = known.listByHorizon(horizonDays).flatMap(({ reveal }) => reveal ?? []);
    const newest = reveals.reduce<(typeof reveals)[number] | null>((last, one) => (last === null || one.at >= last.at ? one : last), null);
    return [horizonDays, reveals.length, newest?.uid ?? null];
  });
  const text = JSON.stringify([DATASET_VERSION, DATASET_LICENCE, DATASET_TABLES, resolutions]);
  return createHash('sha256').update(text).digest('hex');
}

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

export const DATASET_INDEXES = [{ collection: 'dataset_chunks', indexes: [{ key: { file: 1 } }] }];

/** The files of the dataset in the database, in chunks. The newest build stays. */
export class DatasetFileStore {
  /** `key` is what the files were built from: `buildContentKey`. */
  readonly #builds: Collection<{ _id: 'dataset'; key: string; files: StoredFile[] }>;
  /** `_id` is `<sha256>:<coding>:<number>`: written again, it is the same. */
  readonly #chunks: Collection<{ _id: string; file: string; data: Binary; at: Date }>;
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

function countChunks(bytes: number): number {
  return Math.ceil(bytes / CHUNK_BYTES);
}
