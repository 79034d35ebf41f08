import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandomness } from '../../../src/market/simulated.ts';
import type { PushRole } from './push-process.ts';

/** A process of the push that can be killed and started again. */
export interface Member {
  role: PushRole;
  /** Where it can be reached, or was before it was killed; null for one without a server. */
  url(): string | null;
  /** Resolves once it is up. @throws Error with what it wrote when it ends before */
  start(): Promise<void>;
  /** With SIGKILL; resolves when it is dead. */
  kill(): Promise<void>;
  /** Resolves when what was started last has ended, in whichever way. */
  ended(): Promise<void>;
}

export function member(role: PushRole, uri: string): Member {
  let child: ChildProcess;
  let end = Promise.resolve();
  let url: string | null = null;
  return {
    role,
    url: () => url,
    async start() {
      child = fork(join(import.meta.dirname, 'push-process.ts'), [role, uri], { execArgv: [], silent: true });
      end = new Promise((done) => child.once('exit', () => done()));
      url = await up(child);
    },
    async kill() {
      child.kill('SIGKILL');
      await end;
    },
    ended: () => end,
  };
}

async function up(child: ChildProcess): Promise<string | null> {
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  child.once('message', (message) => resolve((message as { url: string | null }).url));
  child.once('exit', (code, signal) => reject(new Error(`it ended (${signal ?? code}): ${output}`)));
  return promise;
}

export interface Chaos {
  members: readonly Member[];
  /** What is done meanwhile, in order: a share of it before each kill. */
  work: readonly (() => Promise<void>)[];
  kills: number;
  /** Longest time between the beginning of a share and the kill. */
  mostMs: number;
  seed: number;
}

/** Kills one process after the other at random moments of the work, and starts each again. Returns who was killed. */
export async function killAtRandom({ members, work, kills, mostMs, seed }: Chaos): Promise<PushRole[]> {
  const { uniform } = createRandomness(seed, 'kills');
  const share = Math.ceil(work.length / kills);
  const killed: PushRole[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const working = inOrder(work.slice(kill * share, (kill + 1) * share));
    await delay(uniform(kill, 0) * mostMs);
    const victim = members[Math.floor(uniform(kill, 1) * members.length)];
    await victim.kill();
    await Promise.all([working, victim.start()]);
    killed.push(victim.role);
  }
  return killed;
}

async function inOrder(work: readonly (() => Promise<void>)[]): Promise<void> {
  for (const piece of work) await piece();
}
