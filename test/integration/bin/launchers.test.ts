import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataDir } from '../../../src/platform/data-dir.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const oldNode = findOldNode();

async function run(node: string, launcher: string, env: Record<string, string> = {}) {
  try {
    const { stdout, stderr } = await promisify(execFile)(node, [join(ROOT, 'bin', launcher)], { env: { ...process.env, ...env } });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe.skipIf(!oldNode)(`the launchers on an old Node${oldNode ? '' : ' (skipped: no Node below 24 on the PATH)'}`, () => {
  it.each(['start.mjs', 'pipeline.mjs', 'reset.mjs', 'token.mjs', 'mcp.mjs', 'audit.mjs', 'svc.mjs'])(
    '%s says what it needs and exits with 1',
    async (launcher) => {
      const { code, stdout, stderr } = await run(oldNode!, launcher);
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/needs Node 24 or later, and this is Node \d+\.\d+\.\d+\.\n.*"npm ci" without --ignore-scripts/s);
    },
  );
});

describe('reset.mjs', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oracle-reset-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const reset = () => run(process.execPath, 'reset.mjs', { DATA_DIR: folder });

  it('prints what it removed from DATA_DIR', async () => {
    const dir = await openDataDir(folder);
    await dir.writeJson('demo.json', {});
    await dir.release();
    expect(await reset()).toMatchObject({ code: 0, stdout: `Removed from ${folder}: demo.json, state.json\n` });
    expect(await reset()).toMatchObject({ code: 0, stdout: `Nothing to remove in ${folder}\n` });
  });

  it('rejects a folder with other files, in words and with exit code 1', async () => {
    await writeFile(join(folder, 'thesis.txt'), '');
    const { code, stderr } = await reset();
    expect(code).toBe(1);
    expect(stderr).toContain('it holds thesis.txt, which this program did not make');
    expect(stderr).not.toContain('    at ');
    expect(await readdir(folder)).toEqual(['thesis.txt']);
  });
});

/** The first `node` of the PATH that is too old: what a user has who starts the launcher without npm. */
function findOldNode(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return candidates
    .filter((path) => existsSync(path))
    .find((path) => Number.parseInt(execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }), 10) < 24);
}
