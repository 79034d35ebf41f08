import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { linkEngineCache } from '../../support/database/engine.ts';
import { ownService } from '../../support/service/own-service.ts';
import { spawnNode } from '../../support/service/service.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const { dataDir, environment, start, stop, get } = ownService(1);

/** A start that ends with code 1 and one message: a code, a cause and what to do, without a stack. */
async function refused(folder: string, more: Record<string, string> = {}): Promise<string> {
  const settings = environment({ PORT: '0', FEEDS: 'simulated', ...more, DATA_DIR: folder });
  const { code, output } = await spawnNode(['bin/start.mjs'], settings).ended;
  expect(code, output).toBe(1);
  expect(output).not.toMatch(/^ +at /m);
  return output;
}

/** What the message says to run, as a shell understands it. */
const commandOf = (output: string) => /^ {2}-> (?:.*: )?((?:DATA_DIR=.* )?npm run reset)$/m.exec(output)?.[1];

describe('a folder that was begun with fewer days', () => {
  it('is gone on with by a plain start, with its record and without a replay, which a line says', async () => {
    await start({ REPLAY_DAYS: '0' });
    const { agentId } = await get('/api/svc/agent/identity');
    await stop('SIGTERM');
    const empty = await start({ REPLAY_DAYS: '120' });
    expect(empty.output()).toMatch(/^REPLAY_DAYS=120 has no effect on .*$/m);
    expect(empty.output()).not.toMatch(/Replaying|fills/);
    expect(await get('/api/svc/agent/identity')).toMatchObject({ agentId });
    await stop('SIGTERM');
    // The folder of a first start has nothing to say.
    expect((await start({ REPLAY_DAYS: '0' })).output()).not.toContain('REPLAY_DAYS');
  });

  it('keeps the days that it has replayed', async () => {
    const first = await start({ REPLAY_DAYS: '2' });
    expect(first.output()).not.toContain('REPLAY_DAYS');
    const scorecard = await get('/api/svc/scorecard');
    await stop('SIGTERM');
    const more = await start({ REPLAY_DAYS: '30' });
    expect(more.output()).toMatch(/^REPLAY_DAYS=30 has no effect on .* its record begins on \d{4}-\d\d-\d\d/m);
    expect(more.output()).not.toMatch(/Replaying|fills/);
    expect((await get('/api/svc/scorecard')).predictions).toEqual(scorecard.predictions);
  });
});

describe('a folder that cannot be made', () => {
  it.skipIf(process.platform !== 'linux')('is named at once where a file system takes none', async () => {
    const began = performance.now();
    const settings = environment({ PORT: '0', FEEDS: 'simulated', DATA_DIR: '/proc/oracle/data' });
    const run = spawnNode(['bin/start.mjs'], settings);
    const timer = setTimeout(() => run.child.kill('SIGKILL'), 30_000);
    const { code, output } = await run.ended;
    clearTimeout(timer);
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringMatching(/CONFIG_INVALID: .*\/proc\/oracle\/data.*\n +-> Set DATA_DIR to/),
    });
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('is named where its parent is a file', async () => {
    const file = join(dataDir(), 'file');
    await writeFile(file, '');
    expect(await refused(join(file, 'data'))).toMatch(/CONFIG_INVALID: .*\/file\/data.*\n +-> Set DATA_DIR to/);
  });
});

/** Nobody, root included, writes below it until it is undone; null where this machine offers no way. */
async function makeReadOnly(path: string): Promise<(() => Promise<void>) | null> {
  if (process.getuid?.() !== 0) {
    await chmod(path, 0o500);
    return () => chmod(path, 0o700);
  }
  try {
    execFileSync('chattr', ['+i', path], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return async () => void execFileSync('chattr', ['-i', path]);
}

describe('a folder with a record', () => {
  let folder: string;
  beforeEach(async () => {
    // A name that a shell would take apart.
    folder = join(dataDir(), "bob's data");
    await mkdir(folder);
    await linkEngineCache(folder);
    const running = await start({ DATA_DIR: folder, REPLAY_DAYS: '0' });
    running.child.kill('SIGTERM');
    await running.ended;
  });
  const undo: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const restore of undo.splice(0)) await restore();
  });

  async function expectUnwritable(context: TestContext, part: string): Promise<void> {
    const restore = await makeReadOnly(join(folder, part));
    if (restore === null) return context.skip('root cannot make a folder read-only here: chattr +i is refused');
    undo.push(restore);
    const output = await refused(folder);
    expect(output).toContain(`CONFIG_INVALID: The data folder ${folder} cannot be used: `);
    expect(output).toMatch(/cannot be written \(E\w+\)\n +-> Give this user .*DATA_DIR/);
    if (part !== '') expect(output).toContain(join(folder, part));
  }

  it.for(['', 'database', 'database/journal', 'chain', 'lock'])('that is read-only is named, with the part: "%s"', (part, context) =>
    expectUnwritable(context, part),
  );

  async function overwrite(name: string): Promise<void> {
    const file = await open(join(folder, 'database', name), 'r+');
    await file.write(Buffer.alloc(4_096, 0xa5), 0, 4_096, 0).finally(() => file.close());
  }
  const collections = async () => (await readdir(join(folder, 'database'))).filter((name) => name.startsWith('collection-'));

  it('whose database is damaged is named, however the engine ends on it, and its command resets that folder alone', async () => {
    const whole = join(dataDir(), 'whole');
    await cp(folder, whole, { recursive: true });
    const damages: Record<string, () => Promise<unknown>> = {
      catalogue: () => overwrite('_mdb_catalog.wt'),
      metadata: () => overwrite('WiredTiger.wt'),
      turtle: () => writeFile(join(folder, 'database/WiredTiger.turtle'), 'nonsense'),
      history: () => overwrite('WiredTigerHS.wt'),
      'a file that is gone': () => rm(join(folder, 'database/_mdb_catalog.wt')),
      'the collections, which are read later': async () => Promise.all((await collections()).map(overwrite)),
    };
    for (const [what, damage] of Object.entries(damages)) {
      await rm(folder, { recursive: true });
      await cp(whole, folder, { recursive: true });
      await damage();
      const output = await refused(folder);
      expect(output, what).toMatch(/^DATA_DIR_DAMAGED: The data folder .*bob's data cannot be used: .*damaged/m);
      expect(commandOf(output), what).toBe(`DATA_DIR='${folder.replaceAll("'", "'\\''")}' npm run reset`);
    }
    const run = (command: string) => execFileSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8' });
    expect(run(commandOf(await refused(folder))!)).toContain(`Removed from ${folder}: `);
    expect(await readdir(folder)).toEqual([]);
    expect(existsSync(join(whole, 'database'))).toBe(true);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['keys', () => writeFile(join(folder, 'keys.json'), '{}')],
    ['chain', () => writeFile(join(folder, 'chain/state.json'), '{"half')],
  ])('whose %s is damaged names the command with this folder', async (_, damage) => {
    await damage();
    expect(commandOf(await refused(folder))).toMatch(/^DATA_DIR='.*bob'\\''s data' npm run reset$/);
  });

  it('gets demo.json again, which follows from its keys and its chain', async () => {
    const path = join(folder, 'demo.json');
    const read = async () => {
      const { contracts, wallets } = JSON.parse(await readFile(path, 'utf8'));
      return { contracts, wallets };
    };
    const before = await read();
    for (const damage of [() => writeFile(path, '{"half'), () => rm(path)]) {
      await damage();
      const running = await start({ DATA_DIR: folder, REPLAY_DAYS: '0' });
      expect(await read()).toEqual(before);
      running.child.kill('SIGTERM');
      await running.ended;
    }
  });

  it('is refused by a reset that cannot write it, without a stack', async (context) => {
    const restore = await makeReadOnly(folder);
    if (restore === null) return context.skip('root cannot make a folder read-only here: chattr +i is refused');
    undo.push(restore);
    const { code, output } = await spawnNode(['bin/reset.mjs'], { DATA_DIR: folder }).ended;
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/^CONFIG_INVALID: .*cannot be written \(E\w+\)\n.*\n$/) });
    expect(JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'))).toMatchObject({ status: 'ready' });
  });
});
