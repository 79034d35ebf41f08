import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDataDir, getProcessIdentity } from '../../../../src/platform/data-dir.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

interface Outcome {
  open: boolean;
  code?: string;
  message?: string;
}

let folder: string;
let holders: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-lock-'));
});
afterEach(async () => {
  await Promise.all(holders.map(end));
  holders = [];
  await removeFolder(folder);
});

async function hold(): Promise<{ child: ChildProcess; outcome: Outcome }> {
  const child = fork(join(import.meta.dirname, 'holder.ts'), [folder], { execArgv: [] });
  holders.push(child);
  const [outcome] = await once(child, 'message');
  return { child, outcome: outcome as Outcome };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

it('rejects a folder that a living process holds, naming the process', async () => {
  const { child } = await hold();
  await expect(openDataDir(folder)).rejects.toMatchObject({
    code: 'DATA_DIR_IN_USE',
    retryable: true,
    message: expect.stringContaining(`process ${child.pid}`),
    suggestedAction: expect.stringContaining(`Stop process ${child.pid}`),
  });
});

it('rejects a second opening by the same process', async () => {
  const dir = await openDataDir(folder);
  await expect(openDataDir(folder)).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
  await dir.release();
});

it('gives the folder to exactly one of six processes that start at once', async () => {
  const outcomes = await Promise.all(Array.from({ length: 6 }, hold));
  const refused = outcomes.filter(({ outcome }) => !outcome.open);
  expect(refused).toHaveLength(5);
  expect(new Set(refused.map(({ outcome }) => outcome.code))).toEqual(new Set(['DATA_DIR_IN_USE']));
});

it('takes over from a process that was killed', async () => {
  const { child } = await hold();
  await end(child);
  await makeReady();
  const dir = await openDataDir(folder);
  expect(await readdir(join(folder, 'lock'))).toEqual([`${process.pid}.json`]);
  await dir.release();
});

it('takes over from a dead process whose number another one has now', async () => {
  const { child } = await hold();
  await end(child);
  await makeReady();
  const stranger = spawn('sleep', ['60']);
  await once(stranger, 'spawn');
  const [name] = await readdir(join(folder, 'lock'));
  const claim = await readFile(join(folder, 'lock', name), 'utf8');
  await rm(join(folder, 'lock', name));
  await writeFile(join(folder, 'lock', `${stranger.pid}.json`), claim);
  const dir = await openDataDir(folder);
  await dir.release();
  await end(stranger);
});

it('identifies processes by their start, and detects their end', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  expect(getProcessIdentity(child.pid!)).toBe(getProcessIdentity(child.pid!));
  expect(getProcessIdentity(child.pid!)).not.toBe(getProcessIdentity(process.pid));
  await end(child);
  expect(getProcessIdentity(child.pid!)).toBeUndefined();
});

/** The killed holder had only begun to set the folder up. */
async function makeReady(): Promise<void> {
  await writeFile(join(folder, 'state.json'), JSON.stringify({ format: 1, createdAt: new Date().toISOString(), status: 'ready' }));
}
