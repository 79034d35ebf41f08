import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedMongo, startEmbeddedMongo } from '../../../../src/dev/embedded-mongo.ts';
import { getProcessIdentity } from '../../../../src/platform/data-dir.ts';
import { connectMongo } from '../../../../src/platform/mongo.ts';
import { ENGINE_CACHE } from '../../../support/database/engine.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

let folder: string;
let dbPath: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-engine-'));
  dbPath = join(folder, 'database');
});
afterEach(() => removeFolder(folder));

const start = (inUseTimeoutMs?: number) => startEmbeddedMongo({ dbPath, cacheDir: ENGINE_CACHE, inUseTimeoutMs });

async function stored(engine: EmbeddedMongo): Promise<number[]> {
  const { db, close } = await connectMongo(engine.uri);
  const documents = await db
    .collection<{ n: number }>('written')
    .find({}, { sort: { n: 1 } })
    .toArray();
  await close();
  return documents.map(({ n }) => n);
}

describe('startEmbeddedMongo', () => {
  it('keeps the data from one start to the next', async () => {
    const first = await start();
    const { db, close } = await connectMongo(first.uri);
    await db.collection('written').insertOne({ n: 7 });
    await close();
    await first.stop();
    const second = await start();
    expect(await stored(second)).toEqual([7]);
    await second.stop();
  });

  it('adapts the engine into an empty cache', async () => {
    const cacheDir = join(folder, 'cache');
    const engine = await startEmbeddedMongo({ dbPath, cacheDir });
    expect(await stored(engine)).toEqual([]);
    await engine.stop();
  });

  it('may be stopped twice', async () => {
    const engine = await start();
    await Promise.all([engine.stop(), engine.stop()]);
    await engine.stop();
  });

  it('rejects a folder that another engine holds, naming it', async () => {
    const engine = await start();
    await expect(start(300)).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE', message: expect.stringContaining(dbPath) });
    expect(await stored(engine)).toEqual([]);
    await engine.stop();
  });

  it('waits for an engine that is still closing', async () => {
    const first = await start();
    const second = start();
    await delay(700);
    await first.stop();
    await (await second).stop();
  });

  it('says that a database is damaged when the engine aborts on it', async () => {
    await (await start()).stop();
    await writeFile(join(dbPath, 'WiredTiger.turtle'), 'not what the engine wrote');
    await expect(start()).rejects.toMatchObject({
      code: 'DATA_DIR_DAMAGED',
      message: expect.stringContaining(dbPath),
      suggestedAction: expect.stringContaining('npm run reset'),
    });
  });

  it('reports an engine that ends by itself, once, and not one that was stopped', async () => {
    const exits: string[] = [];
    const stopped = await start();
    stopped.onExit((error) => exits.push(error.message));
    await stopped.stop();
    const killed = await start();
    killed.onExit((error) => exits.push(`${error.code} ${error.message}`));
    process.kill(killed.pid, 'SIGKILL');
    await expect.poll(() => exits).toEqual(['DATABASE_UNAVAILABLE The embedded MongoDB ended unexpectedly (SIGKILL)']);
    await killed.stop();
  });

  it('is not ended by Ctrl-C in the terminal', async () => {
    const engine = await start();
    process.kill(engine.pid, 'SIGINT');
    await delay(200);
    expect(await stored(engine)).toEqual([]);
    await engine.stop();
  });
});

describe('when the engine is killed', () => {
  it.each([1, 2, 3])('loses no acknowledged write, many at a time: %i', async () => {
    const engine = await start();
    const { db, close } = await connectMongo(engine.uri);
    const acknowledged: number[] = [];
    let next = 0;
    const write = async () => {
      for (;;) {
        const n = next++;
        await db.collection('written').insertOne({ n });
        acknowledged.push(n);
      }
    };
    const writing = Promise.allSettled(Array.from({ length: 16 }, write));
    await expect.poll(() => acknowledged.length, { interval: 10, timeout: 20_000 }).toBeGreaterThan(300);
    process.kill(engine.pid, 'SIGKILL');
    await writing;
    await Promise.all([close(), engine.stop()]);
    const again = await start();
    const found = new Set(await stored(again));
    expect(acknowledged.filter((n) => !found.has(n))).toEqual([]);
    await again.stop();
  });
});

describe('when the parent is killed', () => {
  it('closes the engine and loses no acknowledged write', async () => {
    const parent = fork(join(import.meta.dirname, 'mongo-parent.ts'), [dbPath, ENGINE_CACHE], { execArgv: [] });
    const acknowledged = await killAfter(parent, 200);
    const engine = await start();
    const numbers = await stored(engine);
    await engine.stop();
    expect(numbers.length).toBeGreaterThan(acknowledged);
    expect(numbers).toEqual(numbers.map((_, i) => i));
  });

  it('leaves no process and no socket behind', async () => {
    const parent = fork(join(import.meta.dirname, 'mongo-parent.ts'), [dbPath, ENGINE_CACHE], { execArgv: [] });
    const [{ uri, pid }] = await once(parent, 'message');
    const socket = decodeURIComponent(/^mongodb:\/\/([^/]+)/.exec(uri)![1]);
    await killAfter(parent, 10);
    await expect.poll(() => getProcessIdentity(pid), { timeout: 5_000 }).toBeUndefined();
    expect(existsSync(dirname(socket))).toBe(false);
  });
});

/** Kills the parent once it has reported `count` writes; resolves to the last one that was acknowledged. */
async function killAfter(parent: ChildProcess, count: number): Promise<number> {
  let last = -1;
  parent.on('message', (message: { acknowledged?: number }) => {
    last = message.acknowledged ?? last;
    if (last === count) parent.kill('SIGKILL');
  });
  await once(parent, 'close');
  return last;
}
