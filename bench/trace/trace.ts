import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MCP_HEADERS } from '../../test/support/mcp/mcp.ts';
import { type Benchmark, type Child, type Comparison, startChild } from '../lib.ts';
import type { PaidClientAnswers } from '../paid/client-process.ts';
import type { TraceAnswers } from './service-process.ts';

/** Longer than what runs now and then without a request. */
const IDLE_MS = 3_000;

interface Traced {
  what: string;
  /** The most files that are wanted. */
  goal: number;
  send(url: string): Promise<unknown>;
}

/** How much of the sources one has to read to know what a request does. */
export const TRACE: Benchmark = {
  name: 'trace',
  what: 'files of the sources whose functions run for one warm request, less those that run without one',
  async run({ report }): Promise<Comparison[]> {
    const service = await startChild<TraceAnswers>('trace/service-process.ts');
    const buyer = await startChild<PaidClientAnswers>('paid/client-process.ts');
    try {
      const key = await service.ask('buyer');
      const requests = [
        ...REQUESTS,
        { what: 'a paid call of /oracle', goal: 34, send: (url: string) => buyer.ask('buy', { url: `${url}/oracle`, buyer: key }) },
      ];
      return await trace(service, requests, report);
    } finally {
      await service.ask('stop');
      await Promise.all([service.end(), buyer.end()]);
    }
  },
};

async function trace(service: Child<TraceAnswers>, requests: readonly Traced[], report: (line: string) => void): Promise<Comparison[]> {
  const url = await service.ask('url');
  await delay(IDLE_MS);
  await service.ask('takeFiles');
  await delay(IDLE_MS);
  const idle = new Set(await service.ask('takeFiles'));
  const comparisons: Comparison[] = [];
  for (const { what, goal, send } of requests) {
    await send(url);
    // What the first one leaves to do, and caches of a second, are over.
    await delay(IDLE_MS);
    await service.ask('takeFiles');
    await send(url);
    const files = (await service.ask('takeFiles')).filter((file) => !idle.has(file));
    const areas = Object.entries(Object.groupBy(files, (file) => file.split('/').slice(0, 2).join('/')));
    report(`  ${what}: ${areas.map(([area, of]) => `${area} ${of!.length}`).join(', ')}`);
    const meaning = 'What a reader opens to follow it.';
    comparisons.push({ kind: 'figure', what: `files run by ${what}`, meaning, ours: [files.length], goal, digits: 0 });
  }
  return comparisons;
}

const post = (path: string, body: object, headers: Record<string, string>) => async (url: string) => {
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) });
  const text = await answer.text();
  if (!answer.ok || text.includes('"error"')) throw new Error(`${path} answers ${answer.status}: ${text.slice(0, 200)}`);
};

const get = (path: string) => async (url: string) => (await fetch(url + path)).text();

const PREDICT = { name: 'predict_btc_direction', arguments: { horizon: '7d' } };

const REQUESTS: readonly Traced[] = [
  { what: 'a 404', goal: 10, send: get('/nothing-is-here') },
  { what: 'the public signal', goal: 14, send: get('/api/svc/open/signal') },
  { what: 'predict over MCP', goal: 24, send: post('/mcp', { method: 'tools/call', params: PREDICT }, MCP_HEADERS) },
  {
    what: 'predict over A2A',
    goal: 26,
    send: (url) => {
      const parts = [{ data: { skill: PREDICT.name, input: PREDICT.arguments } }];
      const message = { messageId: randomUUID(), role: 'ROLE_USER', parts };
      return post(
        '/a2a',
        { method: 'SendMessage', params: { message } },
        { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      )(url);
    },
  },
];
