import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRandomness } from '../../../src/market/simulated.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { expectWholeRecord, startAndKill, untilWritten } from '../../support/kills/killed-service.ts';
import { killProcessTree } from '../../support/kills/process-tree.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';
import { spawnNode } from '../../support/service/service.ts';

const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
/** Each has a folder of its own: a kill during its replay, and one during normal work. */
const ROUNDS = 10;
const REPLAY_DAYS = '30';
const WORK_MS = 6_000;
/** Of the kills of a first start: from its begin, and not from that of its replay. */
const SHARE_IN_SETUP = 0.25;
/** Of the time of a first start. */
const REPLAY_SHARE = 0.5;
/** Payments of a killed process are booked by jobs of every minute. */
const TIMEOUT_MS = 600_000;

const { uniform } = createRandomness(SEED, 'kills');
const kills: string[] = [];
let root: string;
let running: RunningService | undefined;
/** Of a first start on this machine at its present load. */
let startMs: number;

const environmentOf = (folder: string) => ({ DATA_DIR: folder, REPLAY_DAYS });

async function start(folder: string): Promise<RunningService> {
  running = await startService(environmentOf(folder));
  return running;
}

async function stop(): Promise<void> {
  running?.child.kill('SIGTERM');
  await running?.ended;
  running = undefined;
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'oracle-kills-'));
  const began = performance.now();
  await start(join(root, 'unkilled'));
  startMs = performance.now() - began;
  await stop();
  process.stdout.write(`seed ${SEED}; a first start takes ${(startMs / 1_000).toFixed(1)} s\n`);
});
afterAll(async () => {
  await stop();
  await removeFolder(root);
  process.stdout.write(`${kills.length} kills, each followed by a start with a whole record\n`);
});

function report(round: number, ms: number, phase: string): void {
  kills.push(phase);
  process.stdout.write(`kill ${kills.length} (round ${round}) after ${(ms / 1_000).toFixed(2)} s: ${phase}\n`);
}

async function killWhileWorking(service: RunningService, folder: string, ms: number): Promise<void> {
  const agent = spawnNode(['bin/dev/demo-agent.mjs', '--url', service.url, '--data-dir', folder], {});
  await delay(ms);
  killProcessTree(service.child.pid!);
  await Promise.all([service.ended, agent.ended]);
}

it.skipIf(process.platform !== 'linux').each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
  'all processes are killed in a replay and in normal work, and the next start continues (round %i; skipped outside Linux)',
  async (round) => {
    const folder = join(root, `round-${round}`);
    const begins = uniform(round, 2) < SHARE_IN_SETUP ? /^/ : /^Page /m;
    const replayMs = uniform(round, 0) * REPLAY_SHARE * startMs;
    const moment = (output: () => string) => untilWritten(begins, output).then(() => delay(replayMs));
    report(round, replayMs, await startAndKill(environmentOf(folder), moment));
    const replayed = await start(folder);
    await expectWholeRecord(folder, replayed.url);

    const workMs = uniform(round, 1) * WORK_MS;
    await killWhileWorking(replayed, folder, workMs);
    report(round, workMs, 'paid calls');
    const continued = await start(folder);
    await expectWholeRecord(folder, continued.url);
    await stop();
    expect(kills).toHaveLength(2 * round);
  },
  TIMEOUT_MS,
);
