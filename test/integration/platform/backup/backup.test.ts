import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Binary, Decimal128, type Document, Double, Int32, Long } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  formatBackupName,
  listBackups,
  openDatabaseReader,
  pruneBackups,
  readBackup,
  readBackupHeader,
  requireNoOpenRestore,
  restoreDatabase,
  writeBackup,
} from '../../../../src/platform/backup.ts';
import { encodeDocumentFrame, encodeFrame, encryptChunks, FRAME, type FrameKind } from '../../../../src/platform/backup-format.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { databaseState } from '../../../support/database/database-state.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

const KEY = randomBytes(32);
const ORDER = { stable: ['forecasts'], early: ['effects'], late: ['causes'] };
let source: TestDatabase;
let target: TestDatabase;
let folder: string;
let path: string;

beforeAll(async () => {
  [source, target] = await Promise.all([testDatabase(), testDatabase()]);
  folder = await mkdtemp(join(tmpdir(), 'oracle-backup-'));
  path = join(folder, 'whole.backup');
  const { db } = source;
  await db.collection('forecasts').insertMany([
    {
      _id: 'a',
      whole: new Double(1),
      long: Long.fromNumber(1),
      money: Decimal128.fromString('1.10'),
      bytes: new Binary(randomBytes(9), 5),
    } as Document,
    new Map<string, unknown>([
      ['_id', 'b'],
      ['7', 1],
      ['1', new Int32(2)],
    ]) as Document,
  ]);
  await db.collection('forecasts').createIndex({ long: 1 }, { unique: true, partialFilterExpression: { long: { $gt: 0 } }, name: 'once' });
  await db.collection('expired').insertOne({ at: new Date(0) });
  await db.collection('expired').createIndex({ at: 1 }, { expireAfterSeconds: 1 });
  await db.createCollection('empty');
  await db
    .collection('causes')
    .insertMany(Array.from({ length: 3_000 }, (_, index) => ({ index, text: randomBytes(100).toString('hex') })));
  await write(path);
});
afterEach(() => target.db.dropDatabase());
afterAll(async () => {
  await Promise.all([source.drop(), target.drop()]);
  await removeFolder(folder);
});

const write = (to: string, describe: () => Promise<Document> = async () => ({ chainId: 8453 })) =>
  writeBackup({ database: source, key: KEY, path: to, order: ORDER, describe });
const restore = (from = path, key = KEY) => restoreDatabase({ db: target.db, path: from, key, requireOwn: () => {} });

async function rawState({ db, client }: TestDatabase): Promise<Record<string, unknown>> {
  const reader = await openDatabaseReader({ db, client });
  const found: Record<string, unknown> = {};
  for (const { name, ...collection } of await reader.listCollections()) {
    const raw: string[] = [];
    for await (const document of reader.readDocuments(name)) raw.push(document.toString('hex'));
    found[name] = { ...collection, raw: raw.toSorted() };
  }
  await reader.close();
  return found;
}

it('restores documents to the byte, indexes and empty collections', async () => {
  const contents = await restore();
  expect(contents).toMatchObject({ collections: 4, documents: 3_003, header: { format: 1, chainId: 8453, createdAt: expect.any(Date) } });
  expect(await rawState(target)).toEqual(await rawState(source));
  await requireNoOpenRestore(target.db);
});

it('writes nothing readable, for the owner of the process alone, and leaves no temporary file', async () => {
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readFile(path)).includes('forecasts')).toBe(false);
  expect(await readdir(folder)).toEqual(['whole.backup']);
  await expect(write(path)).rejects.toMatchObject({ code: 'CONFLICT', field: 'out' });
});

it('refuses a database that is not empty, naming what it holds, and changes nothing in it', async () => {
  await target.db.collection('wagers').insertMany([{ a: 1 }, { a: 2 }]);
  const before = await databaseState(target.db);
  await expect(restore()).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('wagers (2)') });
  expect(await databaseState(target.db)).toEqual(before);
});

it('refuses another key, a damaged file and a foreign backup before it writes anything', async () => {
  const bytes = await readFile(path);
  const damaged = join(folder, 'damaged');
  await writeFile(damaged, bytes.subarray(0, bytes.length - 20));
  await expect(restore(damaged)).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'file' });
  await expect(restore(path, randomBytes(32))).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'BACKUP_KEY' });
  const requireOwn = () => {
    throw new Error('of another chain');
  };
  await expect(restoreDatabase({ db: target.db, path, key: KEY, requireOwn })).rejects.toThrow('of another chain');
  expect(await target.db.listCollections().toArray()).toEqual([]);
});

it('keeps starts away from a half restore, which the next restore replaces', async () => {
  await target.db
    .collection<{ _id: string }>('restore_state')
    .insertOne({ _id: 'restore', startedAt: new Date(), owner: 'a killed process' } as Document & { _id: string });
  await target.db.collection('forecasts').insertOne({ half: true });
  await expect(requireNoOpenRestore(target.db)).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'MONGODB_URI' });
  await restore();
  expect(await rawState(target)).toEqual(await rawState(source));
});

it('copies again when what must be stable has changed meanwhile', async () => {
  let copies = 0;
  const contents = await write(join(folder, 'moved.backup'), async () => {
    copies += 1;
    // The second call ends the first copy.
    if (copies === 2) await source.db.collection<{ _id: string }>('forecasts').updateOne({ _id: 'a' }, { $set: { state: 'PENDING' } });
    return { state: (await source.db.collection<Document & { _id: string }>('forecasts').findOne({ _id: 'a' }))?.state ?? null };
  });
  expect(copies).toBe(4);
  expect(contents.header).toMatchObject({ state: 'PENDING' });
});

it('reads the header alone, lists by time, and keeps the newest of a chain', async () => {
  expect(await readBackupHeader(path, KEY)).toMatchObject({ chainId: 8453 });
  const names = ['2026-08-20T21:50:00Z', '2026-08-21T00:30:00Z', '2026-08-21T21:50:00Z'].map((at) => formatBackupName(8453, new Date(at)));
  for (const name of [...names, formatBackupName(1, new Date(0)), 'notes.txt']) await writeFile(join(folder, name), 'x');
  expect(await pruneBackups(folder, { chainId: 8453, keep: 2, now: new Date() })).toEqual([names[0]]);
  expect((await listBackups(folder)).map(({ name }) => name)).toEqual([names[2], names[1], formatBackupName(1, new Date(0))]);
});

const header = encodeDocumentFrame(FRAME.header, { format: 1 });
const footer = (collections: number) => encodeDocumentFrame(FRAME.footer, { collections, documents: 0, bytes: 0 });
const collection = encodeDocumentFrame(FRAME.collection, { name: 'forecasts', options: {}, indexes: [] });
const end = (documents: number) => encodeDocumentFrame(FRAME.collectionEnd, { name: 'forecasts', documents, sha256: '0'.repeat(64) });

it.each([
  ['has no end', [header]],
  ['has no end', [header, collection, end(0)]],
  ['lacks collections', [header, footer(1)]],
  ['documents of forecasts', [header, collection, end(1), footer(1)]],
  ['goes on after its end', [header, footer(0), footer(0)]],
  ['in no order', [collection, end(0), header, footer(1)]],
  ['format 2', [encodeDocumentFrame(FRAME.header, { format: 2 }), footer(0)]],
  ['within a frame', [header, footer(0).subarray(0, 9)]],
  ['does not know', [header, encodeFrame(9 as FrameKind, []), footer(0)]],
  ['incomplete document', [header, collection, encodeFrame(FRAME.documents, [Buffer.from([9, 0, 0, 0, 0])]), end(1), footer(1)]],
])('rejects what a writer has not finished or a later version has written: it %s', async (words, frames) => {
  const odd = join(folder, 'odd');
  await writeFile(odd, encryptChunks(KEY, Readable.from([gzipSync(Buffer.concat(frames))])));
  await expect(readBackup(odd, KEY)).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(words) });
});
