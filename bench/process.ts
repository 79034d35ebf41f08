import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as netCreateServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';
import { parseDemoFile } from '../src/dev/demo.ts';
import { signedLogin } from '../test/support/auth/login.ts';
import { removeFolder } from '../test/support/docs/folders.ts';
import { startLiveHost } from '../test/support/market/live-host.ts';
import { EXAMPLE_CALLS } from '../test/support/operations/calls.ts';
import { createExampleClient, type ExampleCall, type ExampleClient } from '../test/support/operations/client.ts';
import { buildPath, buildRequest, type CallableOperation, listOperations } from '../test/support/operations/operations.ts';
import { type RunningService, startService } from '../test/support/service/running-service.ts';
import type { BareAnswers } from './http/bare-process.ts';
import type { LoadAnswers, Loaded } from './http/load-process.ts';
import {
  type Benchmark,
  type BenchOptions,
  type Child,
  type Comparison,
  interleaved,
  type MemoryComparison,
  startChild,
  type TimeComparison,
} from './lib.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SVC = join(ROOT, 'bin/svc.mjs');
/** Most milliseconds until a command that only prints, or asks the service of this machine once, has ended. */
const GOAL_MS = 250;

const INFO = {
  wallet: `0x${'12'.repeat(20)}`,
  balance: '1',
  tier: 'basic',
  blockNumber: 1,
  access: { tier: 'basic', wallet: `0x${'12'.repeat(20)}` },
};

/** Milliseconds of `svc` from its start to its end, without the cost of npx. */
export const COMMAND_LINE: Benchmark = {
  name: 'svc',
  what: 'the command line from its start to its end, beside node -e 0',
  async run(options): Promise<TimeComparison[]> {
    const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(INFO)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      return [
        await compare(['--version'], 'Loads the list of the commands, and none of them.', options),
        await compare(['--help'], 'The same, with the text.', options),
        await compare(['whoami', '--url', url, '--token', 'x'], 'Two requests to a server on the loopback address.', options),
      ];
    } finally {
      server.close();
    }
  },
};

async function compare(words: string[], meaning: string, options: BenchOptions): Promise<TimeComparison> {
  const sides = { ours: () => runNode([SVC, ...words]), baseline: () => runNode(['-e', '0']) };
  const { ours, baseline } = await interleaved(sides, options);
  return { kind: 'time', work: `svc ${words[0]}`, meaning, ours, baseline, goalMs: GOAL_MS };
}

async function runNode(words: string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${words.join(' ')} exits with ${code}`);
  return performance.now() - began;
}

/** As `npm start` has them. */
const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '32768' };

/** Starts a service, and has it stop in order. */
type Start = (environment: Record<string, string>) => Promise<RunningService>;

/** Does something with processes on a data folder of their own, all of which have ended afterwards. */
export async function withFolder<Result>(work: (start: Start, folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-bench-'));
  const running: RunningService[] = [];
  const start: Start = async (environment) => {
    const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'silent', ...environment });
    running.push(service);
    return service;
  };
  try {
    return await work(start, folder);
  } finally {
    // The last one first: it may stand on what the first runs.
    for (const { child, ended } of running.toReversed()) {
      child.kill('SIGTERM');
      await ended;
    }
    await removeFolder(folder);
  }
}

const REST_GOAL_MB = 150;
const USED_GOAL_MB = 250;
/** A process gives back what its start has used once it has had nothing to do for a while. */
const REST_MS = 20_000;
const REPLAY_DAYS = 7;
/** Steps below this are noise. */
const REPORTED_MB = 5;

/** What a process takes of a machine, with the history of live data. */
export const MEMORY: Benchmark = {
  name: 'memory',
  what: `resident memory with ROLE=api and with the default role, ${REST_MS / 1_000} s after the start and after every operation was called once, beside a process with an Express route`,
  async run({ report }): Promise<Comparison[]> {
    const host = await startLiveHost();
    const bare = await startChild<BareAnswers>('http/bare-process.ts');
    try {
      await bare.ask('serve', { path: '/', headers: {}, body: '{}' });
      return await withFolder((start, folder) => compareRoles(start, folder, host.providerUrls, bare, report));
    } finally {
      await bare.end();
      await host.close();
    }
  },
};

async function compareRoles(start: Start, folder: string, providerUrls: string, bare: Child<BareAnswers>, report: (line: string) => void) {
  const settings = { FEEDS: 'live', PROVIDER_URLS: providerUrls, REPLAY_DAYS: String(REPLAY_DAYS), TRUST_PROXY: '1', ...ALLOCATOR };
  const all = await start(settings);
  const { rpcUrl } = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')) as { rpcUrl: string };
  const api = await start({ ...settings, ROLE: 'api', CHAIN_RPC_URL: rpcUrl, CHAIN_LOCAL: '1', PUBLIC_URL: all.url });
  const measured = [
    { role: 'ROLE=api', goals: { rest: REST_GOAL_MB, used: USED_GOAL_MB }, ...(await measure(api, folder, report)) },
    { role: 'the default role', goals: {}, ...(await measure(all, folder, report)) },
  ];
  const baseline = [await bare.ask('residentMb')];
  return measured.flatMap(({ role, goals, rest, used }): MemoryComparison[] => {
    const meaning = 'What it keeps: code, the history of all series, what it has answered.';
    const shared = { kind: 'memory', meaning, baseline } as const;
    return [
      { ...shared, what: `a process with ${role} at rest`, ours: [rest], goalMb: goals.rest },
      { ...shared, what: `a process with ${role} that has just answered every operation`, ours: [used], goalMb: goals.used },
    ];
  });
}

async function measure({ child, url }: RunningService, folder: string, report: (line: string) => void) {
  const residentMb = () => readResidentMb(child.pid!);
  const ready = await residentMb();
  await delay(REST_MS);
  const rest = await residentMb();
  report(`  when it is ready ${ready.toFixed(0)} MB, ${REST_MS / 1_000} s later ${rest.toFixed(0)} MB`);
  let last = rest;
  const statuses = await callEveryOperation(url, folder, async (operation) => {
    const now = await residentMb();
    if (now - last >= REPORTED_MB) report(`  ${operation}: ${(now - last).toFixed(0)} MB more`);
    last = now;
  });
  const used = await residentMb();
  await delay(REST_MS);
  const answered = [...statuses.values()].filter((status) => status < 400).length;
  report(
    `  ${statuses.size} operations, ${answered} without an error: ${used.toFixed(0)} MB, and later ${(await residentMb()).toFixed(0)} MB`,
  );
  return { rest, used };
}

async function readResidentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024) / 1e6;
}

/** What a path parameter is without a call of its own: an answer of 404 also loads what the operation needs. */
const UNKNOWN: ExampleCall['params'] = {
  id: 'unknown',
  uid: `0x${'0'.repeat(64)}`,
  date: '2020-01-01',
  weekId: '2020-W01',
  cid: 'unknown',
};

/** Calls each operation of the OpenAPI document once, in its order, with the token of its tier; resolves to the statuses by operation. */
async function callEveryOperation(url: string, dataDir: string, afterEach: (name: string) => Promise<void>): Promise<Map<string, number>> {
  const client = await openClient(url, dataDir);
  const statuses = new Map<string, number>();
  for (const operation of listOperations(await client.requestJson('/.well-known/openapi.json'))) {
    statuses.set(operation.operationId, await callOperation(client, operation));
    await afterEach(operation.operationId);
  }
  return statuses;
}

async function openClient(url: string, dataDir: string): Promise<ExampleClient> {
  const { rpcUrl, wallets } = parseDemoFile(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  const account = (name: string) => privateKeyToAccount(wallets[name].privateKey);
  const accounts = { basic: account('basic'), premium: account('premium'), poor: account('poor'), buyer: account('buyer') };
  return createExampleClient({ url, rpcUrl, wallets: accounts, nowMs: Date.now });
}

async function callOperation(client: ExampleClient, operation: CallableOperation): Promise<number> {
  const holder = operation['x-access'] === 'premium' ? 'premium' : 'basic';
  const call = await exampleCall(client, operation.operationId, holder);
  const token = operation['x-access'] === 'basic' || holder === 'premium' ? await client.logIn(holder) : undefined;
  const accept = operation.mediaTypes[0] ?? 'application/json';
  const response = await client.request(buildPath(operation, call), buildRequest(operation, call, { accept, token }));
  await response.arrayBuffer();
  return response.status;
}

/** A record of a few days lacks what some calls look for. */
async function exampleCall(client: ExampleClient, operationId: string, holder: 'basic' | 'premium'): Promise<ExampleCall> {
  try {
    const call = (await EXAMPLE_CALLS[operationId]?.(client, holder)) ?? {};
    return { ...call, params: { ...UNKNOWN, ...call.params } };
  } catch {
    return { params: { ...UNKNOWN, wallet: client.wallets.premium.address, step: 'resolve', file: 'unknown', jobId: '1' } };
  }
}

const API_PROCESSES = 4;
const WORKERS = 2;
const CONNECTIONS = 25;
const ROUND_MS = 2_000;
const PROCESSES_REPLAY_DAYS = 30;
/** Read from the database for each request: answers to a token are not sent again. */
const PATH = '/api/svc/oracle/premium';
/** Of the requests per second of one process. */
const GOAL = 3;
/** Without one for each API process, the database and the clients they wait for each other. */
const CORES = API_PROCESSES + 2;

/** API and worker processes on one database, as many as asked for. */
export const PROCESSES: Benchmark = {
  name: 'processes',
  what: `GET ${PATH} at ${API_PROCESSES} API processes (--api) beside ${WORKERS} workers (--workers) on one database, against one API process`,
  async run({ rounds, report, api = API_PROCESSES, workers = WORKERS }) {
    return withFolder(async (start, folder) => {
      const services = await startProcesses(start, folder, { api, workers });
      const clients = await Promise.all(services.map(() => startChild<LoadAnswers>('http/load-process.ts')));
      try {
        report(
          `  ${availableParallelism()} cores; ${api} API processes, ${workers} workers, ${CONNECTIONS} connections to each API process`,
        );
        const token = await logIn(folder, services[0].url);
        const load = async (count: number) =>
          Promise.all(services.slice(0, count).map(({ url }, index) => loadOne(clients[index], url, token)));
        const run = await interleaved({ baseline: () => load(1), ours: () => load(api) }, { rounds, report });
        report(`  answers other than 200: ${[...run.baseline, ...run.ours].flat().reduce((sum, { wrong }) => sum + wrong, 0)}`);
        return [toComparison(run, api)];
      } finally {
        await Promise.all(clients.map((client) => client.end()));
      }
    });
  },
};

/** The first worker also runs the database and the chain. */
async function startProcesses(start: Start, folder: string, { api, workers }: { api: number; workers: number }): Promise<RunningService[]> {
  const { url } = await start({ REPLAY_DAYS: String(PROCESSES_REPLAY_DAYS) });
  const { rpcUrl } = parseDemoFile(JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')));
  const settings = { REPLAY_DAYS: String(PROCESSES_REPLAY_DAYS), CHAIN_RPC_URL: rpcUrl, CHAIN_LOCAL: '1', PUBLIC_URL: url };
  for (let index = 1; index < workers; index++) await start({ ...settings, ROLE: 'worker' });
  const services: RunningService[] = [];
  for (let index = 0; index < api; index++) services.push(await start({ ...settings, ROLE: 'api' }));
  return services;
}

async function logIn(folder: string, url: string): Promise<string> {
  const { wallets } = parseDemoFile(JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')));
  const body = JSON.stringify(await signedLogin(privateKeyToAccount(wallets.premium!.privateKey), Date.now()));
  const response = await fetch(`${url}/api/svc/oracle/verify`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  return ((await response.json()) as { token: string }).token;
}

function loadOne(client: Child<LoadAnswers>, url: string, token: string): Promise<Loaded> {
  return client.ask('load', {
    url: `${url}${PATH}`,
    connections: CONNECTIONS,
    ms: ROUND_MS,
    headers: { Authorization: `Bearer ${token}` },
  });
}

function toComparison({ baseline, ours }: Record<'baseline' | 'ours', Loaded[][]>, api: number): Comparison {
  const rates = (rounds: Loaded[][]) => rounds.map((round) => round.reduce((sum, { answers, seconds }) => sum + answers / seconds, 0));
  const cores = availableParallelism();
  const shared = cores < CORES ? ` No goal is set with fewer than ${CORES} cores.` : '';
  return {
    kind: 'rate',
    unit: `answers/s of ${api} API processes`,
    meaning: `What more processes add, against one.${shared}`,
    baseline: rates(baseline),
    ours: rates(ours),
    ...(cores < CORES ? {} : { goal: GOAL }),
  };
}

/** Days replayed when no other number is asked for. */
const DAYS = 500;
/** Days whose mean is compared, at either end; the first ones also compile and fit. */
const WINDOW_DAYS = 40;
const FIRST_DAY = 30;
const POLL_MS = 250;
/** Of all processes together, however many days. */
const GOAL_MB = 600;

/** What a day costs late in a long replay. */
export const REPLAY: Benchmark = {
  name: 'replay',
  what: `a replay of ${DAYS} days: a day at its end beside one at its beginning, and the memory of all processes; --days for others`,
  async run({ days = DAYS, report }): Promise<Comparison[]> {
    const { early, late } = await replay(days, report);
    return [
      {
        kind: 'time',
        work: `a replayed day near day ${days}`,
        meaning: `The baseline is a day near day ${FIRST_DAY + WINDOW_DAYS / 2} of the same replay: a ratio of 1 is linear growth of the whole.`,
        baseline: [early],
        ours: [late],
      },
    ];
  },
};

interface Reached {
  day: number;
  at: number;
}

function replay(days: number, report: BenchOptions['report']): Promise<{ early: number; late: number }> {
  return withFolder(async (start) => {
    const port = await findFreePort();
    const reached: Reached[] = [];
    let peak: Map<string, number> = new Map();
    let isUp = false;
    const began = performance.now();
    const starting = start({ REPLAY_DAYS: String(days), PORT: String(port), ...ALLOCATOR }).finally(() => {
      isUp = true;
    });
    while (!isUp) {
      const day = await readReplayedDay(port);
      if (day !== null && day !== reached.at(-1)?.day) reached.push({ day, at: performance.now() });
      const now = await measureDescendants();
      if (totalOf(now) > totalOf(peak)) peak = now;
      await delay(POLL_MS);
    }
    await starting;
    const parts = [...peak].map(([program, mb]) => `${program} ${mb.toFixed(0)}`).join(', ');
    report(`  ${days} days in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
    report(`  all processes of the service, shared pages once: ${parts}`);
    const peakMb = Math.ceil(totalOf(peak));
    report(`  together at most ${peakMb} MB   goal <= ${GOAL_MB} MB: ${peakMb <= GOAL_MB ? 'met' : 'MISSED'}`);
    return { early: meanDayMs(reached, FIRST_DAY), late: meanDayMs(reached, days - WINDOW_DAYS) };
  });
}

function meanDayMs(reached: readonly Reached[], from: number): number {
  const within = reached.filter(({ day }) => day >= from && day <= from + WINDOW_DAYS);
  const [first, last] = [within[0], within.at(-1)!];
  return (last.at - first.at) / (last.day - first.day);
}

async function findFreePort(): Promise<number> {
  const server = netCreateServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Null before the replay and after it. */
async function readReplayedDay(port: number): Promise<number | null> {
  try {
    const { setup } = (await (await fetch(`http://127.0.0.1:${port}/health`)).json()) as {
      setup: { what: string; done: number | null } | null;
    };
    return setup?.what.startsWith('replaying') ? setup.done : null;
  } catch {
    return null;
  }
}

/** By a part of the command line. */
const PROGRAMS = {
  service: 'bin/start.mjs',
  database: 'mongo-host.ts',
  'host of the chain': 'chain-host.ts',
  chain: 'bin/anvil',
  'self-tests': 'compute-child.ts',
};

/** Megabytes by program of all processes below this one, pages that they share counted once; none where there is no `/proc`. */
async function measureDescendants(): Promise<Map<string, number>> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const isBelow = (pid: number | undefined): boolean => pid !== undefined && (pid === process.pid || isBelow(parents.get(pid)));
  const byProgram = new Map<string, number>();
  for (const pid of pids.filter((candidate) => isBelow(parents.get(candidate)))) {
    const program = await findProgram(pid);
    byProgram.set(program, (byProgram.get(program) ?? 0) + (await readProportionalMb(pid)));
  }
  return byProgram;
}

/** Of a page that n processes have, a process has an nth. */
async function readProportionalMb(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return (Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1_024) / 1e6;
}

async function findProgram(pid: number): Promise<string> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return Object.entries(PROGRAMS).find(([, part]) => commandLine.includes(part))?.[0] ?? 'others';
}

function totalOf(byProgram: ReadonlyMap<string, number>): number {
  return [...byProgram.values()].reduce((sum, mb) => sum + mb, 0);
}

/** Most milliseconds until an empty service is ready, and one that replays so many days first. */
const START_GOAL_MS = 3_000;
const REPLAY_GOAL_MS = 12_000;
const START_REPLAY_DAYS = 120;
const REPLAY_ROUNDS = 3;

/** Seconds from `npm start` after an installation until the service is up. */
export const START: Benchmark = {
  name: 'start',
  what: `a first start until it is ready, empty and with ${START_REPLAY_DAYS} days to replay, beside a process with one Express route`,
  async run({ rounds, report }): Promise<Comparison[]> {
    const sides = { ours: () => firstStart(0), baseline: bareStart };
    const { ours, baseline } = await interleaved(sides, { rounds, report });
    const meaning = 'Database, chain and contracts are its own, and come up with it.';
    const replayed: number[] = [];
    for (let round = 1; round <= REPLAY_ROUNDS; round++) {
      replayed.push(await firstStart(START_REPLAY_DAYS));
      report(`  replay ${round} of ${REPLAY_ROUNDS}`);
    }
    return [
      { kind: 'time', work: 'first start without a replay', meaning, ours, baseline, goalMs: START_GOAL_MS },
      {
        kind: 'time',
        work: `first start with ${START_REPLAY_DAYS} days`,
        meaning: 'All steps of each day, with their transactions, and the self-tests at the end.',
        ours: replayed,
        baseline: null,
        goalMs: REPLAY_GOAL_MS,
      },
    ];
  },
};

/** Milliseconds from nothing to a service that says that it is ready. */
async function firstStart(days: number): Promise<number> {
  return withFolder(async (start) => {
    const began = performance.now();
    const { url } = await start({ REPLAY_DAYS: String(days) });
    const { status } = await fetch(`${url}/ready`);
    if (status !== 200) throw new Error(`${url}/ready answers ${status}`);
    return performance.now() - began;
  });
}

async function bareStart(): Promise<number> {
  const began = performance.now();
  const bare = await startChild<BareAnswers>('http/bare-process.ts');
  try {
    await fetch(await bare.ask('serve', { path: '/ready', headers: {}, body: '{}' }));
    return performance.now() - began;
  } finally {
    await bare.end();
  }
}
