import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark, BenchOptions, Comparison } from '../benchmark.ts';
import { ALLOCATOR, withFolder } from './service-folder.ts';

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
  const server = createServer();
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
