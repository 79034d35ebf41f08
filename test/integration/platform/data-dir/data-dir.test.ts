import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataDir, resetDataDir } from '../../../../src/platform/data-dir.ts';

let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'oracle-data-dir-'));
  folder = join(root, 'deeper', 'data');
});
afterEach(() => rm(root, { recursive: true }));

/** A folder as a finished first start leaves it. */
async function setUp(): Promise<void> {
  const dir = await openDataDir(folder);
  await mkdir(join(folder, 'database'));
  await dir.writeJson('keys.json', { attester: '0x1' });
  await dir.markReady();
  await dir.release();
}

describe('openDataDir', () => {
  it('makes a folder for this user alone, and finds it again', async () => {
    const dir = await openDataDir(folder);
    expect(dir).toMatchObject({ path: folder, isNew: true });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await dir.markReady();
    await dir.release();
    const again = await openDataDir(folder, { required: ['state.json'] });
    expect(again).toMatchObject({ isNew: false, createdAt: dir.createdAt });
    await again.release();
  });

  it('writes JSON files with mode 0600 by default', async () => {
    const dir = await openDataDir(folder);
    await dir.writeJson('keys.json', { attester: '0x1' });
    await dir.writeJson('keys.json', { attester: '0x2' });
    await dir.writeJson('demo.json', { chainId: 1 }, 0o644);
    expect(await dir.readJson('keys.json')).toEqual({ attester: '0x2' });
    expect((await stat(join(folder, 'keys.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'demo.json'))).mode & 0o777).toBe(0o644);
    expect((await readdir(folder)).sort()).toEqual(['demo.json', 'keys.json', 'lock', 'state.json']);
    await dir.release();
  });

  it('does not show the content of a file that is not JSON', async () => {
    const dir = await openDataDir(folder);
    await writeFile(join(folder, 'keys.json'), '0xsecret');
    const error = await dir.readJson('keys.json').catch((failure) => failure);
    expect(error).toMatchObject({ code: 'DATA_DIR_DAMAGED', message: expect.stringContaining('keys.json is not valid JSON') });
    expect(inspect(error, { depth: 10 })).not.toContain('secret');
    await dir.release();
  });

  it('takes a mounted file system and what a killed first start left before its manifest for empty', async () => {
    await mkdir(join(folder, 'lost+found'), { recursive: true });
    await mkdir(join(folder, 'cache'));
    await writeFile(join(folder, 'state.json.0c7f2f4e-9d6c-4c53-8f5e-0e5f5c5d5b5a.tmp'), '{"form');
    const dir = await openDataDir(folder);
    expect(dir.isNew).toBe(true);
    await dir.release();
  });

  it('is new until it is marked ready, so that a first start that was interrupted is made again', async () => {
    const first = await openDataDir(folder);
    await first.writeJson('keys.json', { attester: '0x1' });
    await first.release();
    const second = await openDataDir(folder, { required: ['keys.json', 'demo.json', 'chain'] });
    expect(second).toMatchObject({ isNew: true, createdAt: first.createdAt });
    await second.markReady();
    await second.release();
    const third = await openDataDir(folder);
    expect(third.isNew).toBe(false);
    await third.release();
  });

  it.each([
    ['somebody else’s files', async () => writeFile(join(folder, 'thesis.txt'), ''), 'it holds thesis.txt', 'empty folder'],
    ['a missing manifest', async () => writeFile(join(folder, 'keys.json'), '{}'), 'it lacks state.json', 'npm run reset'],
    ['a manifest that is not JSON', () => manifest('certainly not'), 'state.json is not valid JSON', 'npm run reset'],
    ['a half-written manifest', () => manifest('{"format": 1, "crea'), 'state.json is not valid JSON', 'npm run reset'],
    ['an empty manifest', () => manifest(''), 'state.json is not valid JSON', 'npm run reset'],
    ['a manifest of nothing', () => manifest('null'), 'format (none)', 'npm run reset'],
    [
      'a newer format',
      () => manifest('{"format":2,"createdAt":"2026-01-01T00:00:00Z","status":"ready"}'),
      'says format 2',
      'npm run reset',
    ],
    [
      'an unknown status',
      () => manifest('{"format":1,"createdAt":"2026-01-01T00:00:00Z","status":"done"}'),
      'has no status that this version knows',
      'npm run reset',
    ],
  ])('refuses %s, saying so', async (_what, damage, reason, action) => {
    await mkdir(folder, { recursive: true });
    await damage();
    await expect(openDataDir(folder)).rejects.toMatchObject({
      code: 'DATA_DIR_DAMAGED',
      retryable: false,
      message: expect.stringContaining(reason),
      suggestedAction: expect.stringContaining(action),
    });
    const left = await readdir(join(folder, 'lock')).catch(() => []);
    expect(left).toEqual([]);
  });

  it('names the parts that are missing', async () => {
    await setUp();
    const required = ['keys.json', 'demo.json', 'database', 'chain'];
    await expect(openDataDir(folder, { required })).rejects.toMatchObject({
      code: 'DATA_DIR_DAMAGED',
      message: expect.stringContaining('it lacks demo.json, chain'),
      suggestedAction: `Put back a copy of the folder, or begin a new record: DATA_DIR=${folder} npm run reset`,
    });
  });

  it('says when there can be no folder', async () => {
    await writeFile(join(root, 'file'), '');
    await expect(openDataDir(join(root, 'file', 'data'))).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'DATA_DIR' });
    await expect(openDataDir(join(root, 'file'))).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'DATA_DIR' });
  });
});

describe('resetDataDir', () => {
  it('removes what a damaged folder holds of ours, so that the next start begins anew', async () => {
    await setUp();
    await manifest('{"format');
    expect(await resetDataDir(folder)).toEqual(['database', 'keys.json', 'state.json']);
    expect(await readdir(folder)).toEqual([]);
    const dir = await openDataDir(folder);
    expect(dir.isNew).toBe(true);
    await dir.release();
  });

  it('does nothing where there is nothing', async () => {
    expect(await resetDataDir(folder)).toEqual([]);
    await mkdir(folder, { recursive: true });
    expect(await resetDataDir(folder)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['a file it does not know', 'thesis.tmp', true],
    ['nothing that marks it as ours', 'database', false],
  ])('rejects a folder with %s, and removes nothing', async (_what, name, ready) => {
    if (ready) await setUp();
    await mkdir(join(folder, name), { recursive: true });
    const before = await readdir(folder);
    await expect(resetDataDir(folder)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(name) });
    expect(await readdir(folder)).toEqual(before);
  });

  it('rejects a folder in use', async () => {
    const dir = await openDataDir(folder);
    await expect(resetDataDir(folder)).rejects.toMatchObject({
      code: 'DATA_DIR_IN_USE',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'))).toMatchObject({ status: 'setting-up' });
    await dir.release();
  });
});

function manifest(text: string): Promise<void> {
  return writeFile(join(folder, 'state.json'), text);
}
