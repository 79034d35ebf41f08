import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectMongo } from '../../../src/platform/mongo.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { expectWholeRecord } from '../../support/kills/killed-service.ts';
import { killProcessTree } from '../../support/kills/process-tree.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';
import { attestedOnChain, runCommand, spawnNode, unresolvedService } from '../../support/service/service.ts';

const KEY = { BACKUP_KEY: randomBytes(32).toString('hex') };
const TIMEOUT_MS = 600_000;
const DAYS = 12;
let root: string;
let running: RunningService | undefined;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'oracle-backup-'));
});
afterAll(async () => {
  running?.child.kill('SIGTERM');
  await running?.ended;
  await removeFolder(root);
});

const svc = (words: string[], environment: Record<string, string>) =>
  spawnNode(['bin/svc.mjs', ...words], { ...KEY, ...environment }).ended;

async function expectDone(run: ReturnType<typeof svc>): Promise<string> {
  const { code, output } = await run;
  expect(code, output).toBe(0);
  return output;
}

/** Repeats work until it is ended, which resolves to how often it was done. */
function repeat(work: () => Promise<unknown>): { end(): Promise<number> } {
  let isEnded = false;
  const done = (async () => {
    let count = 0;
    for (; !isEnded; count++) await work();
    return count;
  })();
  const end = () => {
    isEnded = true;
    return done;
  };
  return { end };
}

/** Requests, and an agent that pays in every way there is, again and again. */
function load(service: RunningService, dataDir: string) {
  const paths = ['/api/svc/open/signal', '/api/svc/onchain-oracle/stats', '/api/status'];
  const requests = repeat(() => Promise.all(paths.map(async (path) => (await fetch(`${service.url}${path}`)).arrayBuffer())));
  const payments = repeat(() => spawnNode(['bin/dev/demo-agent.mjs', '--url', service.url, '--data-dir', dataDir], {}).ended);
  return { requests, payments };
}

/** Of what was sold before the backup something is booked. */
async function expectEventsAndPayments(dataDir: string): Promise<void> {
  const { mongodbUri } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
  const { db, close } = await connectMongo(mongodbUri);
  const ids = await db.collection<{ _id: number }>('events').find().sort({ _id: 1 }).toArray();
  expect(ids.map(({ _id }) => _id)).toEqual(ids.map((_, index) => index + 1));
  expect(ids.length).toBeGreaterThan(0);
  expect(await db.collection('payments').countDocuments()).toBeGreaterThan(0);
  await close();
}

it.skipIf(process.platform !== 'linux')(
  'a record that is backed up under load, destroyed and restored goes on without a gap or a difference (skipped outside Linux)',
  async () => {
    const dataDir = join(root, 'data');
    const folder = join(root, 'backups');
    const environment = { DATA_DIR: dataDir, REPLAY_DAYS: String(DAYS), FEEDS: 'simulated' };
    running = await startService(environment);
    const { requests, payments } = load(running, dataDir);
    const backups = repeat(() => expectDone(svc(['backup', '--out', folder], environment)));
    for (const step of [['signal', '--early'], ['attest'], ['wager'], ['catch-up']]) {
      const run = await spawnNode(['bin/pipeline.mjs', ...step], environment).ended;
      expect([0, 3], run.output).toContain(run.code);
    }
    expect(await backups.end()).toBeGreaterThan(0);
    const last = await expectDone(svc(['backup', '--out', folder, '--keep', '2'], environment));
    const [, path] = /Written and verified: ([^,]+),/.exec(last)!;
    // What is sold from here on is lost.
    expect(await requests.end()).toBeGreaterThan(0);
    killProcessTree(running.child.pid!);
    await Promise.all([running.ended, payments.end()]);
    await rm(join(dataDir, 'database'), { recursive: true });

    expect(await readdir(folder)).toHaveLength(2);
    expect(await expectDone(svc(['backup', 'list', folder], environment))).toContain('record to');
    const listed = JSON.parse(await expectDone(svc(['backup', 'list', folder, '--json'], environment)));
    expect(listed).toMatchObject({ folder, backups: [{ bytes: expect.any(Number), error: null }, { error: null }] });
    const verified = JSON.parse(await expectDone(svc(['backup', 'verify', path!, '--json'], environment)));
    expect(verified).toMatchObject({ path, documents: expect.any(Number), lastDay: listed.backups[0].lastDay });
    await expectDone(svc(['restore', path!], environment));
    expect(await svc(['restore', path!], environment)).toMatchObject({ code: 1, output: expect.stringContaining('is not empty') });
    running = await startService(environment);
    await expectWholeRecord(dataDir, running.url);
    await expectEventsAndPayments(dataDir);
    const status = await (await fetch(`${running.url}/api/status`)).json();
    expect(status).toMatchObject({ record: { days: DAYS + 1 } });
  },
  TIMEOUT_MS,
);

it(
  'outcomes that were revealed after the backup are read back from the chain, and none is attested twice',
  async () => {
    const service = await unresolvedService(DAYS);
    const { dataDir, infrastructure } = service;
    const environment = {
      DATA_DIR: dataDir,
      FEEDS: 'simulated',
      CHAIN_RPC_URL: infrastructure.rpcUrl,
      CHAIN_LOCAL: '1',
      MONGODB_URI: infrastructure.mongodbUri,
    };
    const path = join(root, 'unresolved.backup');
    try {
      await expectDone(svc(['backup', '--out', path], environment));
      await expectDone(runCommand(service, ['resolve']).ended);
      const resolved = await attestedOnChain(service, 'resolution');
      expect(resolved).toBeGreaterThan(DAYS);
      await service.database.db.dropDatabase();

      await expectDone(svc(['restore', path], environment));
      const restarted = await startService(environment);
      expect(restarted.output()).toContain('what it lacks was read back');
      await expectWholeRecord(dataDir, restarted.url);
      restarted.child.kill('SIGTERM');
      await restarted.ended;
      expect(await attestedOnChain(service, 'resolution')).toBe(resolved);
      expect(await service.database.db.collection('forecasts').countDocuments({ reveal: { $ne: null } })).toBe(resolved);
    } finally {
      await service.stop();
    }
  },
  TIMEOUT_MS,
);
