import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createCsvEncoder } from './csv-encoder.ts';
import { DATASET_LICENCE, DATASET_TITLE, DATASET_VERSION } from './data-card.ts';
import { createParquetEncoder } from './parquet-encoder.ts';
import type { DatasetRows } from './rows.ts';
import type { TableEncoder } from './table.ts';
import { DATASET_TABLES, TABLE_NAMES, type TableName } from './tables.ts';

export const DATASET_FORMATS = ['csv', 'parquet'] as const;

export type DatasetFormat = (typeof DATASET_FORMATS)[number];

export type FileName = `${TableName}.${DatasetFormat}`;

export interface BuiltFile {
  name: FileName;
  table: TableName;
  format: DatasetFormat;
  rows: number;
  /** SHA-256 of the content, hex. */
  sha256: string;
  content: Buffer;
  /** Compressed content; null for a format that is compressed itself. */
  gzipped: Buffer | null;
}

interface TableBuild {
  name: TableName;
  rows: number;
  encoders: Record<DatasetFormat, TableEncoder<unknown>>;
}

const compress = promisify(gzip);

/** Builds all files in one pass over the rows. Equal rows give equal bytes. */
export async function buildDatasetFiles(batches: AsyncIterable<DatasetRows>): Promise<BuiltFile[]> {
  const builds = await Promise.all(TABLE_NAMES.map(startTable));
  for await (const batch of batches) {
    for (const build of builds) {
      build.rows += batch[build.name].length;
      for (const format of DATASET_FORMATS) build.encoders[format].add(batch[build.name]);
    }
  }
  const files: BuiltFile[] = [];
  for (const build of builds) for (const format of DATASET_FORMATS) files.push(await finishFile(build, format));
  return files;
}

async function startTable(name: TableName): Promise<TableBuild> {
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

async function finishFile({ name, rows, encoders }: TableBuild, format: DatasetFormat): Promise<BuiltFile> {
  const content = encoders[format].finish();
  const sha256 = createHash('sha256').update(content).digest('hex');
  const gzipped = format === 'csv' ? await compress(content) : null;
  return { name: `${name}.${format}`, table: name, format, rows, sha256, content, gzipped };
}
