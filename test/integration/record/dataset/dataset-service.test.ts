import { parse } from 'csv-parse/sync';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { HORIZONS } from '../../../../src/forecast/model.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import {
  DATASET_FORMATS,
  DATASET_INDEXES,
  DatasetFileStore,
  type DatasetFormat,
  DatasetService,
  type StoredBytes,
} from '../../../../src/record/dataset.ts';
import { DATASET_TABLES, readRowsByYear, TABLE_NAMES, type TableName } from '../../../../src/record/dataset-tables.ts';
import type { DayDoc, ForecastState } from '../../../../src/record/forecast-doc.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../../src/record/forecasts.ts';
import type { ModelStore } from '../../../../src/record/model-card.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { buildTestForecast } from '../../../unit/record/forecast-fixture.ts';

const models = {
  get: async () => {
    throw new OracleError('NOT_FOUND', 'There is no model');
  },
} as unknown as ModelStore;

let database: TestDatabase;
let record: ForecastRecord;
let now: Date;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, [...RECORD_INDEXES, ...DATASET_INDEXES]);
  record = new ForecastRecord({ db: database.db, saltSecret: 'a master secret of a test', horizons: HORIZONS });
  now = new Date('2027-02-01T00:00:00Z');
});

const createDataset = () => new DatasetService(record.known, models, new DatasetFileStore(database.db, () => now), () => now);

let sequence = 0;
async function add(date: string, state: ForecastState, horizonDays = 7): Promise<void> {
  const doc = { ...buildTestForecast({ date, state, horizonDays }), sequence: ++sequence };
  await record.forecasts.insertOne(doc);
  const day = {
    ...{ _id: date, day: doc.day, sequence, signalAt: doc.signalAt, modelVersion: doc.modelVersion, replayed: false, late: false },
    ...{ inputsDigest: doc.inputsDigest, metadata: { json: '{"secret":1}', digest: doc.metadataDigest, cid: doc.cid } },
  };
  await record.days.updateOne({ _id: date }, { $set: day as unknown as Partial<DayDoc> }, { upsert: true });
  await database.db
    .collection<{ _id: string }>('record_meta')
    .updateOne({ _id: 'genesis' }, { $min: { day: doc.day } } as never, { upsert: true });
  await record.known.load();
}

async function read(dataset: DatasetService, stored: StoredBytes): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of dataset.readChunks(stored)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function readTable(table: TableName, format: DatasetFormat, dataset = createDataset()): Promise<Buffer> {
  return read(dataset, (await dataset.getFile(table, format)).identity);
}

const toFile = (bytes: Buffer) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;

async function readRows(table: TableName, format: DatasetFormat): Promise<Record<string, unknown>[]> {
  const bytes = await readTable(table, format);
  return format === 'csv' ? parse(bytes, { columns: true }) : parquetReadObjects({ file: toFile(bytes) });
}

/** A value of Parquet as CSV writes it. */
function toCell(value: unknown, type: string): string {
  if (value === null || value === undefined) return '';
  if (!(value instanceof Date)) return String(value);
  return type === 'date' ? value.toISOString().slice(0, 10) : value.toISOString();
}

it('contains resolved forecasts alone, whatever else is stored', async () => {
  const states: ForecastState[] = ['DRAFT', 'PENDING', 'VOID', 'WIN', 'LOSS', 'HOLD'];
  for (const [index, state] of states.entries()) await add(`2026-01-0${index + 1}`, state);
  for (const format of DATASET_FORMATS) {
    const rows = await readRows('forecasts', format);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['WIN', 'LOSS', 'HOLD']);
    expect((await readRows('inputs', format)).length).toBe(3);
    expect((await readRows('scores', format)).length).toBe(3);
  }
});

it('leaves out what is decided and not revealed on chain', async () => {
  await add('2026-01-01', 'WIN');
  await record.forecasts.updateOne({}, { $set: { reveal: null, state: 'PENDING' } });
  await record.known.load();
  expect(await readRows('forecasts', 'csv')).toEqual([]);
});

it.each(TABLE_NAMES)('%s has the same cells in both formats, over several years', async (table) => {
  for (const date of ['2025-12-31', '2026-01-01', '2026-07-01', '2027-01-01']) for (const days of [1, 7]) await add(date, 'WIN', days);
  const [csv, parquet] = [await readRows(table, 'csv'), await readRows(table, 'parquet')];
  const { columns } = DATASET_TABLES[table];
  expect(csv.length).toBe(table === 'inputs' ? 4 : 8);
  expect(Object.keys(csv[0])).toEqual(columns.map(({ name }) => name));
  const cells = parquet.map((row) => Object.fromEntries(columns.map(({ name, type }) => [name, toCell(row[name], type)])));
  expect(cells).toEqual(csv);
});

it('writes a row group a year, with licence and columns in the footer', async () => {
  await add('2026-01-01', 'WIN');
  await add('2027-01-01', 'LOSS');
  const { row_groups, key_value_metadata = [] } = parquetMetadata(toFile(await readTable('forecasts', 'parquet')));
  expect(row_groups.length).toBe(2);
  const footer = Object.fromEntries(key_value_metadata.map(({ key, value }) => [key, value]));
  expect(footer.licence).toContain('CC-BY-4.0');
  expect(JSON.parse(footer.columns!).length).toBe(DATASET_TABLES.forecasts.columns.length);
});

it.each(TABLE_NAMES)('marks every time of %s as UTC, so that no reader takes it for local time', async (table) => {
  const { schema } = parquetMetadata(toFile(await readTable(table, 'parquet')));
  const utc = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' };
  for (const { name, type } of DATASET_TABLES[table].columns) {
    const { logical_type, converted_type } = schema.find((element) => element.name === name)!;
    if (type === 'timestamp') expect([name, logical_type, converted_type]).toEqual([name, utc, 'TIMESTAMP_MILLIS']);
    else expect([name, logical_type]).toEqual([name, undefined]);
  }
});

it('scores the probability as committed', async () => {
  await add('2026-01-01', 'LOSS');
  const [row] = await readRows('scores', 'csv');
  expect(row).toMatchObject({ rose: 'true', correct: 'true', modelVersion: 'm0-d1.2025-08-19', crps: '', pit: '', within80: '' });
  expect(Number(row.brier)).toBeCloseTo((1 - 0.5876) ** 2, 12);
  expect(Number(row.logScore)).toBeCloseTo(-Math.log(0.5876), 12);
  expect(Number(row.brierClimatology)).toBeCloseTo((1 - 0.54) ** 2, 12);
});

it('has columns and no rows before the first resolution', async () => {
  for (const table of TABLE_NAMES) {
    expect(String(await readTable(table, 'csv'))).toBe(`${DATASET_TABLES[table].columns.map(({ name }) => name).join(',')}\n`);
    expect(await readRows(table, 'parquet')).toEqual([]);
  }
});

it('is built once after a revelation, by whichever process reads first', async () => {
  await add('2026-01-01', 'WIN');
  const [one, other] = [createDataset(), createDataset()];
  const files = await one.listFiles();
  const reads = vi.spyOn(record.known, 'listAll');
  await one.refresh();
  expect(await other.listFiles()).toEqual(files);
  expect(reads).not.toHaveBeenCalled();
  await add('2026-01-02', 'LOSS');
  expect((await other.getFile('forecasts', 'csv')).rows).toBe(2);
  expect(reads).toHaveBeenCalled();
});

it('is not built again for a change of the record that resolves nothing', async () => {
  await add('2026-01-01', 'WIN');
  const dataset = createDataset();
  const before = await dataset.listFiles();
  const reads = vi.spyOn(record.known, 'listAll');
  await add('2026-01-02', 'PENDING');
  expect(await dataset.listFiles()).toEqual(before);
  expect(reads).not.toHaveBeenCalled();
});

it('gives equal bytes for an equal record', async () => {
  await add('2026-01-01', 'WIN');
  const before = (await createDataset().listFiles()).map(({ sha256 }) => sha256);
  await database.db.collection('dataset_builds').deleteMany({});
  expect((await createDataset().listFiles()).map(({ sha256 }) => sha256)).toEqual(before);
});

it('keeps the chunks of an earlier build for an hour', async () => {
  await add('2026-01-01', 'WIN');
  const dataset = createDataset();
  const { identity: old } = await dataset.getFile('forecasts', 'csv');
  const content = await read(dataset, old);
  await add('2026-01-02', 'WIN');
  now = new Date(now.getTime() + 600_000);
  await dataset.refresh();
  expect(await read(createDataset(), old)).toEqual(content);
  now = new Date(now.getTime() + 3_600_001);
  await add('2026-01-03', 'WIN');
  await dataset.refresh();
  await expect(read(createDataset(), old)).rejects.toThrow('is missing');
});

it('reads the record by calendar years', async () => {
  for (const date of ['2025-12-31', '2026-01-01', '2027-01-01']) await add(date, 'WIN');
  const batches: number[] = [];
  for await (const { forecasts } of readRowsByYear(record.known, models, now)) batches.push(forecasts.length);
  expect(batches).toEqual([1, 1, 1]);
});
