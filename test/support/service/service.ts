import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { assembleService, type Service } from '../../../src/app/app.ts';
import { loadConfig } from '../../../src/config.ts';
import { toDay } from '../../../src/forecast/day.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { LoadShedder } from '../../../src/platform/load-shedder.ts';
import { createLog, createLogCounts } from '../../../src/platform/log.ts';
import { createStartupProgress } from '../../../src/platform/progress.ts';
import { createShutdown } from '../../../src/platform/shutdown.ts';
import { contextAt } from '../clock/trusted-time.ts';
import { testDatabase } from '../database/database.ts';
import { linkEngineCache, SHARED_ENGINE } from '../database/engine.ts';
import { removeFolder } from '../docs/folders.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Suites ask from one address, as fast as they can. */
export const HARDLY_LIMITED = {
  RATE_LIMIT_PUBLIC: '1000000',
  RATE_LIMIT_WALLET: '1000000',
  RATE_LIMIT_RPC: '1000000',
  RATE_LIMIT_TASKS: '1000000',
};

export const today = () => toDay(Date.now());

export interface TestService extends Service {
  dataDir: string;
  stop(): Promise<void>;
}

/** The whole service without its HTTP server, in this process, on a folder of its own, with simulated data and a chain that begins `days` ago. */
export async function testService(days: number, environment: Record<string, string> = {}): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'oracle-test-'));
  await linkEngineCache(dataDir);
  const shared = SHARED_ENGINE in process.env ? await testDatabase() : null;
  const own = { DATA_DIR: dataDir, FEEDS: 'simulated', REPLAY_DAYS: String(days), ...(shared && { MONGODB_URI: shared.uri }) };
  const config = loadConfig({ ...own, ...HARDLY_LIMITED, ...environment });
  const log = createLog({ level: 'silent', secrets: [] });
  const shutdown = createShutdown({ log });
  const service = await assembleService(
    { config, log, logCounts: createLogCounts(), shutdown, progress: createStartupProgress() },
    'http://127.0.0.1:3000',
  );
  takeOverWritesByHand(service);
  const end = async () => {
    await shutdown.stop('the test is over');
    await shared?.drop();
    await removeFolder(dataDir);
  };
  let ended: Promise<void> | undefined;
  const stop = () => (ended ??= end());
  // Suites change the record and read it at once, and on a machine under load their requests wait instead of being shed.
  const loadShedder = new LoadShedder({ priorities: Array(4).fill({ maxWaitMs: Number.POSITIVE_INFINITY, share: 1 }) });
  return { ...service, appOptions: { ...service.appOptions, reusesAnswers: false, loadShedder }, dataDir, stop };
}

/** What a suite writes to the collections of the record is in the memory of the service when its write resolves. */
function takeOverWritesByHand({ pipeline: { record, wagers } }: Service): void {
  const toText = (args: unknown[]) => JSON.stringify(args, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  // Updates of the record itself enter the outbox.
  const isByHand = (name: string, args: unknown[]) => !/^(update|bulkWrite|findOneAnd)/.test(name) || !toText(args).includes('"outbox"');
  const seen = <C extends object>(collection: C): C =>
    new Proxy(collection, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        if (!/^(insert|update|delete|replace|bulkWrite|findOneAnd)/.test(String(name))) return member.bind(target);
        return async (...args: unknown[]) => {
          const result: unknown = await member.apply(target, args);
          if (isByHand(String(name), args)) await record.known.load();
          return result;
        };
      },
    });
  Object.assign(record, { days: seen(record.days), forecasts: seen(record.forecasts) });
  Object.assign(wagers, { wagers: seen(wagers.wagers) });
}

/** Runs a past day's steps at their own times, chain clock included; throws when one has to wait. */
export async function runPastDay(
  { pipeline, infrastructure }: TestService,
  day: number,
  outcome: readonly StepName[] = OUTCOME_STEPS,
): Promise<void> {
  const steps: [number, StepName][] = [
    [getStepDueMs('signal', day), 'signal'],
    [getStepDueMs('attest', day), 'attest'],
    [getStepDueMs('wager', day), 'wager'],
    ...outcome.map((step): [number, StepName] => [getWindowOpensMs(day), step]),
  ];
  for (const [ms, step] of steps) {
    await infrastructure.localChain!.setNextBlockTime(ms);
    const result = await runStep(pipeline, step, day, { ...contextAt(ms), replayed: true });
    if (!('done' in result)) throw new Error(`${step} is not done: ${JSON.stringify(result)}`);
  }
}

/** A service whose past `days` are each forecast and committed in time, and none of them resolved; its chain stands at now. */
export async function unresolvedService(days: number, environment: Record<string, string> = {}): Promise<TestService> {
  const service = await testService(days, environment);
  for (let day = today() - days; day < today(); day++) await runPastDay(service, day, ['open-window']);
  await service.infrastructure.localChain!.followWallClock();
  return service;
}

/** Removes the wagers of the days so far, for tests that place their own; the account is as at its opening. */
export async function clearWagers({ database, pipeline }: TestService): Promise<void> {
  for (const name of ['wagers', 'paper_orders']) await database.db.collection(name).deleteMany({});
  await database.db.collection<{ _id: string }>('paper_ledger').deleteMany({ _id: { $ne: 'opening' } });
  await pipeline.record.known.load();
}

/** How many attestations of a kind stand on chain, by the chain's own events. */
export async function attestedOnChain({ http }: TestService, schema: 'prediction' | 'resolution'): Promise<number> {
  return (await http.attestations.find({ schema, attester: http.wallets.attester.address, fromBlock: 0 })).length;
}

export interface CommandRun {
  child: ChildProcess;
  /** Exit code, or the signal that ended it, with everything it wrote. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>;
}

/** `npm run pipeline -- ...words` as a real process, beside a service of this one. */
export function runCommand(
  { dataDir, infrastructure }: TestService,
  words: string[],
  environment: Record<string, string> = {},
): CommandRun {
  return spawnNode(['bin/pipeline.mjs', ...words], {
    DATA_DIR: dataDir,
    FEEDS: 'simulated',
    CHAIN_RPC_URL: infrastructure.rpcUrl,
    CHAIN_LOCAL: '1',
    MONGODB_URI: infrastructure.mongodbUri,
    ...environment,
  });
}

/** A node process in the project's folder, with the environment of this one and some more. */
export function spawnNode(words: string[], environment: Record<string, string>): CommandRun {
  const child = spawn(process.execPath, words, { cwd: ROOT, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<Awaited<CommandRun['ended']>>((done) => {
    child.once('close', (code, signal) => done({ code, signal, output }));
  });
  return { child, ended };
}
