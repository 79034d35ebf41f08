import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DATASET_TABLES, TABLE_NAMES } from '../../../src/record/dataset-tables.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

interface DuckConnection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowObjects(): Record<string, unknown>[] }>;
  closeSync(): void;
}

// Not imported, because the type checker runs without the packages of this folder.
const { DuckDBInstance } = createRequire(import.meta.url)('@duckdb/node-api') as {
  DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<DuckConnection>; closeSync(): void }> };
};

const DAYS = 5;

let service: TestService;
let served: Served;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  service.progress.complete();
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

it.each(TABLE_NAMES)('DuckDB in another time zone reads the times of %s.parquet as those of the CSV', async (table) => {
  const get = (format: string) => fetch(`${served.url}/api/svc/dataset/${table}.${format}`);
  const file = join(service.dataDir, `${table}.parquet`);
  await writeFile(file, Buffer.from(await (await get('parquet')).arrayBuffer()));
  const rows: Record<string, string>[] = parse(await (await get('csv')).text(), { columns: true });
  expect(rows.length).toBeGreaterThan(0);
  const times = DATASET_TABLES[table].columns.filter(({ type }) => type === 'timestamp').map(({ name }) => name);
  const instance = await DuckDBInstance.create(':memory:');
  const duck = await instance.connect();
  try {
    await duck.run("SET TimeZone = 'America/New_York'");
    const columns = ['1 AS one', ...times.map((name) => `epoch_ms("${name}"::TIMESTAMPTZ) AS "${name}"`)].join(', ');
    const read = (await duck.runAndReadAll(`SELECT ${columns} FROM '${file}'`)).getRowObjects();
    const inMs = (one: Record<string, unknown>) => times.map((name) => (one[name] === null ? null : Number(one[name])));
    const fromCsv = (one: Record<string, string>) => times.map((name) => (one[name] === '' ? null : Date.parse(one[name]!)));
    expect(read.map(inMs)).toEqual(rows.map(fromCsv));
  } finally {
    duck.closeSync();
    instance.closeSync();
  }
});
