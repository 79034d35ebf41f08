import { InMemoryPushNotificationStore } from '@a2a-js/sdk/server';
import type { Db } from 'mongodb';
import { buildAgentCard } from '../../../agent-card/card.ts';
import type { PaidCalls, RunSkill } from '../../../skills/runner.ts';
import { A2A_INDEXES, type A2a, createA2a } from '../../../src/a2a/server.ts';
import { TASK_LEASE_MS } from '../../../src/a2a/tasks.ts';
import { type Caller, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import type { RateLimits } from '../../../src/auth/rate-limits.ts';
import { createApp } from '../../../src/http/server.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { type Served, serveApp } from '../http/serve.ts';

export interface A2aBench extends Served {
  a2a: A2a;
  /** How often a skill was carried out. */
  runs(): number;
  /** Skills wait until they are let go. */
  hold(): { release(): void; begun: Promise<void> };
  /** Ends what waits for anything, as the stop of the service does. */
  stop(): void;
}

export interface BenchOptions {
  db: Db;
  now?: () => Date;
  /** Log lines. */
  lines?: string[];
  /** What a skill does instead of answering. */
  runSkill?: RunSkill;
  /** Unset: nothing is sold. */
  paidCalls?: PaidCalls;
  limits?: RateLimits;
  /** Unset: registrations are accepted, and no call is made. */
  push?: Parameters<typeof createA2a>[1]['push'];
}

/** Tokens of the bench: `basic`, or `basic-2` for another wallet. */
const CALLERS: Record<string, Caller> = {
  basic: { tier: 'basic', wallet: `0x${'b'.repeat(40)}` },
  'basic-2': { tier: 'basic', wallet: `0x${'c'.repeat(40)}` },
};

/** A2A alone on a database: one process of the service, whose skills answer when the test lets them. */
export async function a2aBench({
  db,
  now = () => new Date(),
  lines = [],
  runSkill,
  paidCalls = NOTHING_SOLD,
  limits,
  push = NO_PUSH(),
}: BenchOptions): Promise<A2aBench> {
  await ensureIndexes(db, A2A_INDEXES);
  let runs = 0;
  let letGo = () => {};
  let gate: { passed: Promise<void>; begin(): void } | undefined;
  const answer: RunSkill = async (call, context) => {
    runs += 1;
    gate?.begin();
    await gate?.passed;
    return runSkill === undefined ? { output: { asked: call.input, by: context.caller.tier }, text: 'answered' } : runSkill(call, context);
  };
  const stopping = new AbortController();
  const log = createLog({ level: 'info', secrets: [], write: (line) => void lines.push(line) });
  const shutdown = { signal: stopping.signal, onStop: () => undefined };
  const a2a = createA2a({ db, log, now, shutdown }, { card: buildAgentCard(SOURCE), runSkill: answer, paidCalls, push });
  const identify = async (authorization?: string) => CALLERS[authorization?.replace('Bearer ', '') ?? ''] ?? PUBLIC_CALLER;
  const served = await serveApp(createApp([], { log, identify, limits, trustProxy: 1 }, a2a.adapters));
  return {
    ...served,
    a2a,
    runs: () => runs,
    stop() {
      letGo();
      stopping.abort();
    },
    hold() {
      const [passed, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      gate = { passed: passed.promise, begin: begun.resolve };
      const release = () => {
        gate = undefined;
        passed.resolve();
      };
      letGo = release;
      return { release, begun: begun.promise };
    },
  };
}

/** Ages every task of the database by so many milliseconds. */
export async function idleFor(db: Db, ms = TASK_LEASE_MS): Promise<void> {
  await db.collection('a2a_tasks').updateMany({}, [{ $set: { aliveAt: { $subtract: ['$aliveAt', ms] } } }]);
}

const SOURCE = {
  publicUrl: 'http://127.0.0.1:3000',
  version: '0.0.0',
  chainId: 31337,
  registry: `0x${'1'.repeat(40)}`,
  agentId: 1,
  payments: { payee: `0x${'2'.repeat(40)}`, asset: `0x${'3'.repeat(40)}`, receiptSigner: `0x${'4'.repeat(40)}` },
} as const;

const refuseSale = (): never => {
  throw new Error('nothing is sold here');
};
const NOTHING_SOLD: PaidCalls = {
  quote: refuseSale,
  signedQuote: async () => refuseSale(),
  sell: async () => refuseSale(),
};

const NO_PUSH = () =>
  Object.assign(new InMemoryPushNotificationStore(), {
    send: async () => undefined,
    check: async () => undefined,
    deleteForTask: async () => undefined,
    purge: async () => undefined,
  });

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
export type Answer = { status: number; headers: Headers; body: any };

export type Ask = (method: string, params: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** JSON-RPC by hand. */
export function rpcOf(url: string, path = '/a2a'): Ask {
  return async (method, params, headers = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
      body,
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
}

export interface StreamOptions {
  headers?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: events are what is tested
  onEvent?: (event: any) => void;
}

/** All events of a stream over JSON-RPC; an error in place of one, or of the stream, is `{ error }`. */
// biome-ignore lint/suspicious/noExplicitAny: events are what is tested
export async function streamOf(url: string, method: string, params: unknown, { headers, onEvent }: StreamOptions = {}): Promise<any[]> {
  const answer = await fetch(`${url}/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
  if (!answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return [(await answer.json()) as { error: unknown }];
  const events = [];
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const [, data] of blocks.flatMap((block) => [...block.matchAll(/^data: (.*)$/gm)])) {
      const { result, error } = JSON.parse(data);
      events.push(result ?? { error });
      onEvent?.(events.at(-1));
    }
  }
  return events;
}

/** A message by hand, in the JSON of protocol 1.0. */
export function message(part: object, more: object = {}) {
  return { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [part], ...more } };
}

export const MARKET = { data: { skill: 'get_market_context', input: { include: ['price'] } } };
