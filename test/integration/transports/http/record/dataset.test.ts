import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROVIDERS } from '../../../../../src/market/live/provider.ts';
import { TABLE_NAMES } from '../../../../../src/record/dataset-tables.ts';
import type { ForecastDoc } from '../../../../../src/record/forecast-doc.ts';
import { loginToken } from '../../../../support/auth/login.ts';
import { removeFolder } from '../../../../support/docs/folders.ts';
import { openAsk } from '../../../../support/http/ask.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { cli } from '../../../../support/service/cli.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

const DAYS = 5;
const TODAY = today();

let service: TestService;
let served: Served;
let folder: string;
let hidden: ForecastDoc[];
beforeAll(async () => {
  service = await testService(DAYS, { REVEAL: 'immediate' });
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  service.progress.complete();
  served = await serve(service);
  folder = await mkdtemp(join(tmpdir(), 'oracle-dataset-'));
  hidden = await service.pipeline.record.forecasts.find({ reveal: null }).toArray();
});
afterAll(async () => {
  await served.close();
  await service.stop();
  await removeFolder(folder);
});

const PATH = '/api/svc/dataset';
const get = (path: string, headers: Record<string, string> = {}) => fetch(served.url + path, { headers });
// biome-ignore lint/suspicious/noExplicitAny: the answer is what is tested
const readIndex = async (): Promise<any> => (await get(PATH)).json();
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const svc = (...words: string[]) => cli(['dataset', ...words], { environment: { SERVICE_URL: served.url, NO_COLOR: '1' } });

it('lists each table with licence, columns and the digests of its files', async () => {
  const index = await readIndex();
  expect(index).toMatchObject({ success: true, licence: { id: 'CC-BY-4.0' }, source: expect.stringContaining('simulated') });
  expect(index.tables.map(({ name }: { name: string }) => name)).toEqual([...TABLE_NAMES]);
  for (const { files, name } of index.tables) {
    for (const { url, bytes, sha256: digest, format } of files) {
      const response = await get(new URL(url).pathname);
      const content = Buffer.from(await response.arrayBuffer());
      expect({ name, format, bytes: content.length, digest: sha256(content) }).toEqual({ name, format, bytes, digest });
    }
  }
});

it('has a row for each resolved forecast and for no other, also where values are revealed at once', async () => {
  expect(hidden.length).toBeGreaterThan(0);
  const rows: Record<string, string>[] = parse(await (await get(`${PATH}/forecasts.csv`)).text(), { columns: true });
  const resolved = await service.pipeline.record.forecasts
    .find({ reveal: { $ne: null } })
    .sort({ day: 1, horizonDays: 1 })
    .toArray();
  expect(rows.map(({ predictionId }) => predictionId)).toEqual(resolved.map(({ _id }) => _id));
  expect(rows.map(({ attestationUid, resolutionTx }) => [attestationUid, resolutionTx])).toEqual(
    resolved.map(({ attestation, reveal }) => [attestation!.uid, reveal!.txHash]),
  );
  expect(rows.every(({ crps, logScore, priceP50 }) => Number(crps) > 0 && Number(logScore) > 0 && Number(priceP50) > 0)).toBe(true);
});

it('contains nothing of an unresolved forecast, for no tier, and no provider', async () => {
  const anonymous: Record<string, string> = {};
  for (const headers of [anonymous, { Authorization: `Bearer ${await loginToken(service, 'premium')}` }]) {
    for (const table of TABLE_NAMES) {
      for (const format of ['csv', 'parquet']) {
        const text = Buffer.from(await (await get(`${PATH}/${table}.${format}`, headers)).arrayBuffer()).toString('latin1');
        for (const { _id, commitment } of hidden) expect([text.includes(_id), text.includes(commitment)]).toEqual([false, false]);
        for (const { title } of Object.values(PROVIDERS)) expect(text).not.toContain(title);
      }
    }
  }
});

it('sends the stored coding that the client accepts', async () => {
  const { ask, close } = openAsk(served.url);
  const whole = await ask(`${PATH}/forecasts.csv`, { headers: { 'Accept-Encoding': 'identity' } });
  expect(whole.headers['content-encoding']).toBeUndefined();
  expect(whole.headers['content-length']).toBe(String(whole.text.length));
  const onlyBrotli = await ask(`${PATH}/forecasts.csv`, { headers: { 'Accept-Encoding': 'br' } });
  expect(onlyBrotli.headers['content-encoding']).toBeUndefined();
  await close();
  const { identity, gzip } = await service.http.dataset.getFile('forecasts', 'csv');
  const parts: Buffer[] = [];
  for await (const part of service.http.dataset.readChunks(gzip!)) parts.push(part);
  expect(gunzipSync(Buffer.concat(parts)).length).toBe(identity.bytes);
  expect((await get(`${PATH}/forecasts.csv`)).headers.get('content-encoding')).toBe('gzip');
});

it('answers HEAD without a body and 304 to the tag', async () => {
  const head = await fetch(`${served.url}${PATH}/scores.parquet`, { method: 'HEAD' });
  expect(head.status).toBe(200);
  expect(head.headers.get('content-type')).toBe('application/vnd.apache.parquet');
  expect(head.headers.get('content-disposition')).toBe('attachment; filename="scores.parquet"');
  const same = await get(`${PATH}/scores.parquet`, { 'If-None-Match': head.headers.get('etag')! });
  expect(same.status).toBe(304);
});

it('rejects an unknown table', async () => {
  const response = await get(`${PATH}/salts.csv`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'INPUT_INVALID', field: 'table' });
});

it('svc dataset lists the tables, prints CSV and writes a checked file', async () => {
  const index = await svc();
  expect(JSON.parse(index.out)).toEqual(await readIndex());
  const printed = await svc('--table', 'inputs');
  expect(printed).toMatchObject({ code: 0, err: '', out: await (await get(`${PATH}/inputs.csv`)).text() });
  const out = join(folder, 'scores.parquet');
  const written = await svc('--table', 'scores', '--format', 'parquet', '--out', out);
  expect(written.code).toBe(0);
  const { sha256: digest } = await service.http.dataset.getFile('scores', 'parquet');
  expect(sha256(await readFile(out))).toBe(digest);
  expect(written.err).toContain(digest);
});

it('svc dataset names a wrong option and leaves no partial file', async () => {
  expect(await svc('--table', 'salts')).toMatchObject({ code: 2, err: expect.stringContaining('--table') });
  expect(await svc('--out', join(folder, 'x'))).toMatchObject({ code: 2, err: expect.stringContaining('--table') });
  expect(await svc('--table', 'scores', '--format', 'parquet')).toMatchObject({ code: 2, err: expect.stringContaining('--out') });
  expect(await svc('--table', 'scores', '--out', join(folder, 'none/x'))).toMatchObject({ code: 2, err: expect.stringContaining('--out') });
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});
