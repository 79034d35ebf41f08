import { access, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/forecast/day.ts';
import { removeFolder } from '../support/docs/folders.ts';
import { startService } from '../support/service/running-service.ts';
import { spawnNode } from '../support/service/service.ts';

describe('a record made from a folder of files', () => {
  let root: string;
  let folder: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'oracle-files-'));
    folder = await closesIn('one', 1);
    const running = await startService({ ...environment(), FEEDS: `csv:${folder}`, REPLAY_DAYS: '2' });
    expect(running.output()).toMatch(/the market data ends on 2026-01-09: no later day is forecast/);
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0 });
  });
  afterAll(() => removeFolder(root));

  const environment = () => ({ DATA_DIR: join(root, 'data') });
  async function refused(feeds: string): Promise<string> {
    const { code, output } = await spawnNode(['bin/start.mjs'], { ...environment(), PORT: '0', FEEDS: feeds }).ended;
    expect(code, output).toBe(1);
    return output;
  }

  /** Ten years of closes, all multiplied, in a folder called `closes`. */
  async function closesIn(parent: string, factor: number): Promise<string> {
    const path = join(root, parent, 'closes');
    const rows = Array.from({ length: 3_650 }, (_, index) => {
      const date = new Date(Date.UTC(2026, 0, 9) - (3_649 - index) * DAY_MS).toISOString().slice(0, 10);
      return `${date},${factor * (20_000 + 5_000 * Math.sin(index / 40) + index)}`;
    });
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'btc_daily.csv'), `date,close_median\n${rows.join('\n')}\n`);
    return path;
  }

  it('rejects other files under the same name', async () => {
    const other = await closesIn('two', 3);
    expect(await refused(`csv:${other}`)).toMatch(/Setting FEEDS: the record has [\d.]+ USD on 2026-01-09, the files of csv:closes have/);
  });

  it('is not gone on with from whatever there is', async () => {
    expect(await refused('auto')).toMatch(/was made from files \(csv:closes\)\n.*Set FEEDS=csv:<folder>, with the folder named "closes"/);
  });
});

describe('a temporary folder', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'oracle-temporary-'));
    await mkdir(join(root, LONG_NAME));
    await writeFile(join(root, 'file'), '');
  });
  afterAll(() => removeFolder(root));

  /** Above the 104 bytes that the path of a socket may have. */
  const LONG_NAME = 'x'.repeat(100);

  it.each([
    ['does not exist', 'absent', 'ENOENT'],
    ['is a file', 'file', 'ENOTDIR'],
    ['has a path too long for a socket', LONG_NAME, 'a socket'],
  ])('that %s is named, with what to do', async (_what, name, cause) => {
    const folder = join(root, name);
    const environment = { DATA_DIR: join(root, 'data'), PORT: '0', TMPDIR: folder, REPLAY_DAYS: '0' };
    const { code, output } = await spawnNode(['bin/start.mjs'], environment).ended;
    expect(code, output).toBe(1);
    expect(output).toContain(`CONFIG_INVALID: The temporary folder ${folder} cannot be used: `);
    expect(output).toContain(cause);
    expect(output).toMatch(/\n +-> .*TMPDIR/);
    // Nothing has been begun that a later start would find.
    await expect(access(environment.DATA_DIR)).rejects.toThrow('ENOENT');
  });
});
