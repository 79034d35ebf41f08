import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { composeAppOptions } from '../../../../../src/app/transports.ts';
import { loadConfig } from '../../../../../src/config.ts';
import { MAX_ANSWER_AGE_MS } from '../../../../../src/http/memo.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createListener } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { type HttpAnswer, openAsk } from '../../../../support/http/ask.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';
import { HARDLY_LIMITED, type TestService, unresolvedService } from '../../../../support/service/service.ts';

const SIGNAL = '/api/svc/open/signal';
/** Headers of one request. */
const PER_REQUEST = [
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'date',
  'transfer-encoding',
  'content-length',
  'connection',
  'keep-alive',
];

let service: TestService;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  service = await unresolvedService(1);
  service.progress.complete();
});
afterAll(async () => {
  for (const close of closing) await close();
  await service?.stop();
});

const stopping = new AbortController();
/** Log lines of requests, of all processes. */
const lines: object[] = [];

/** A process of the service, with limits of its own. */
async function open({
  reusesAnswers = true,
  limits = HARDLY_LIMITED as Record<string, string>,
  trustProxy = undefined as string[] | undefined,
} = {}) {
  const { database, http } = service;
  const context = {
    ...http,
    config: loadConfig(limits),
    // Counts of its own: processes share a limit.
    db: database.client.db(`limits-${closing.length}`),
    log: createLog({ level: 'silent', secrets: [] }),
    shutdown: { ...http.shutdown, signal: stopping.signal },
  };
  const options = composeAppOptions(context, { identify: (authorization) => http.access.identify(authorization) });
  const log = { ...options.log, debug: (line: object) => void lines.push(line) };
  const trusted = trustProxy === undefined ? {} : { trustProxy };
  const listener = createListener(allRoutes(http), { ...options, ...trusted, log: log as typeof options.log, reusesAnswers });
  const served: Served = await serveApp(listener, { listening: { limits: trusted } });
  const client = openAsk(served.url);
  closing.push(() => client.close(), served.close);
  return client.ask;
}

const readMinute = () => Math.floor(Date.now() / 60_000);

const comparable = ({ status, headers, text }: HttpAnswer) => ({
  status,
  text,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !PER_REQUEST.includes(name))),
});

describe('answers that are sent again', () => {
  let [ask, direct]: Awaited<ReturnType<typeof open>>[] = [];
  beforeAll(async () => {
    [ask, direct] = [await open(), await open({ reusesAnswers: false })];
  });

  it.each([
    [SIGNAL, {}],
    [`${SIGNAL}?horizon=2d`, { 'Accept-Encoding': 'gzip' }],
    ['/api/svc/scorecard', { 'Accept-Encoding': 'br, gzip' }],
    ['/api/svc/scorecard', {}],
    ['/api/svc/onchain-oracle/history', { Origin: 'https://example.org' }],
    ['/llms.txt', {}],
    ['/', { Accept: 'text/html' }],
    ['/api/svc/scorecard?horizon=banana', {}],
    ['/nothing', {}],
  ] as const)('have the bytes and headers of the first: %s %o', async (path, headers) => {
    const question = { headers: { ...headers } };
    const askAll = async () => [await ask(path, question), await ask(path, question), await direct(path, question)] as const;
    let [minute, [first, second, other]] = [readMinute(), await askAll()];
    // The page has the price of the minute.
    while (readMinute() !== minute) [minute, [first, second, other]] = [readMinute(), await askAll()];
    expect(comparable(second)).toEqual(comparable(first));
    expect(comparable(second).headers).toEqual(comparable(other).headers);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('have the bytes of characters outside of ASCII, and of a content coding', async () => {
    const page = await ask('/', { headers: { Accept: 'text/html' } });
    expect(page.text).toMatch(/[\u2013\u25b2\u25bc]/);
    expect(page.text).not.toContain('\ufffd');
    const url = '/api/svc/scorecard?horizon=2d';
    const decode = ({ text }: HttpAnswer) => gunzipSync(Buffer.from(text, 'latin1')).toString();
    const plain = await ask(url);
    const coded = { headers: { 'Accept-Encoding': 'gzip' } };
    for (const answer of [await ask(url, coded), await ask(url, coded)]) expect(decode(answer)).toBe(plain.text);
  });

  it('keep the request id of the client, and count a tenth each', async () => {
    const counted = await open({ limits: { ...HARDLY_LIMITED, RATE_LIMIT_PUBLIC: '1000' } });
    const remaining = ({ headers }: HttpAnswer) => Number(/r=(\d+)/.exec(String(headers.ratelimit))![1]);
    lines.length = 0;
    const answers: HttpAnswer[] = [];
    for (let index = 0; index < 60; index++) answers.push(await counted(SIGNAL, { headers: { 'X-Request-Id': 'mine' } }));
    expect(new Set(answers.map(({ headers }) => headers['x-request-id']))).toEqual(new Set(['mine']));
    const again = lines.filter((line) => 'reused' in line).length;
    expect(again).toBeGreaterThan(40);
    expect(remaining(answers.at(-1)!)).toBe(1_000 - Math.ceil(60 - again + again / 10));
  });

  it('are 304 for their entity tag, without a body', async () => {
    const { etag } = (await ask(SIGNAL)).headers;
    const unchanged = await ask(SIGNAL, { headers: { 'If-None-Match': etag! } });
    expect(unchanged).toMatchObject({ status: 304, text: '' });
    expect(unchanged.headers.etag).toBe(etag);
    expect(unchanged.headers['content-type']).toBeUndefined();
  });

  it('end at the rate limit, with its error', async () => {
    const limited = await open({ limits: { ...HARDLY_LIMITED, RATE_LIMIT_PUBLIC: '10' } });
    const statuses: number[] = [];
    for (let index = 0; index < 101; index++) statuses.push((await limited('/api/svc/open/signal?horizon=3')).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200));
    const rejected = await limited('/api/svc/open/signal?horizon=3');
    expect(rejected.status).toBe(429);
    expect(JSON.parse(rejected.text)).toMatchObject({ code: 'RATE_LIMITED' });
    expect(rejected.headers['retry-after']).toBeDefined();
  });

  it('behind a trusted proxy are counted and logged for the forwarded address', async () => {
    const proxied = await open({ limits: { ...HARDLY_LIMITED, RATE_LIMIT_PUBLIC: '3' }, trustProxy: ['loopback'] });
    const from = (address: string) => proxied(`${SIGNAL}?horizon=1`, { headers: { 'X-Forwarded-For': address } });
    lines.length = 0;
    const answers = [await from('198.51.100.1'), await from('198.51.100.1'), await from('2001:db8::5'), await from('198.51.100.1')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(lines.slice(1)).toEqual(
      ['198.51.100.1', '2001:db8:0:0::/64', '198.51.100.1'].map((ip) =>
        expect.objectContaining({ ip, reused: true, requestId: expect.any(String) }),
      ),
    );
    const more: number[] = [];
    for (let index = 0; index < 40; index++) more.push((await from('198.51.100.1')).status);
    expect(more).toContain(429);
    expect((await from('2001:db8::6')).status).toBe(200);
  });

  it('are none for an address that an untrusted client names', async () => {
    const headers = { 'X-Forwarded-For': '198.51.100.1' };
    await ask(`${SIGNAL}?horizon=2`, { headers });
    lines.length = 0;
    await ask(`${SIGNAL}?horizon=2`, { headers });
    expect(lines).toEqual([expect.not.objectContaining({ reused: true })]);
  });

  it('of a tier are never sent to another', async () => {
    const answers = new Map<string, string>();
    for (const tier of ['premium', 'public', 'basic', 'public', 'premium'] as const) {
      const { text } = await ask(SIGNAL, { headers: await asTier(service, tier) });
      const { signal, direction } = JSON.parse(text);
      answers.set(tier, answers.get(tier) ?? text);
      expect([signal === 'GATED', direction === null]).toEqual([tier === 'public', tier === 'public']);
      expect(text).toBe(answers.get(tier));
    }
    const { text, headers } = await ask(SIGNAL, { headers: { Authorization: 'Bearer of-nothing' } });
    expect(JSON.parse(text).signal).toBe('GATED');
    expect(headers['www-authenticate']).toContain('invalid_token');
    expect((await ask(SIGNAL)).headers['www-authenticate']).toBeUndefined();
  });

  it('are none where each answer is made for one request', async () => {
    const nonces = [await ask('/api/svc/oracle/nonce'), await ask('/api/svc/oracle/nonce')].map(({ text }) => JSON.parse(text).nonce);
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  it.each([
    ['of the record', `${SIGNAL}?horizon=7`],
    ['of what no revision counts', '/api/svc/signal'],
  ])('are by no process older than the declared age after a change %s', async (_of, path) => {
    const other = await open();
    const { forecasts } = service.pipeline.record;
    const before = (await ask(path)).text;
    await other(path);
    const [newest] = await forecasts.find({ horizonDays: 7 }).sort({ day: -1 }).limit(1).toArray();
    const change = async (regime: typeof newest.regime) => {
      await forecasts.updateOne({ _id: newest._id }, { $set: { regime } });
    };
    await change(newest.regime === 'CRISIS' ? 'CHOP' : 'CRISIS');
    const changedAt = performance.now();
    for (const each of [ask, other]) {
      // The age counts from when a request was asked: its answer may be on the way for longer on a busy machine.
      let [askedAt, lastOldAskedAt] = [performance.now(), changedAt];
      while ((await each(path)).text === before) [lastOldAskedAt, askedAt] = [askedAt, performance.now()];
      expect(lastOldAskedAt - changedAt).toBeLessThanOrEqual(MAX_ANSWER_AGE_MS);
    }
    await change(newest.regime);
  });

  it('of the record stay while neither it nor the minute changes', async () => {
    const { known } = service.pipeline.record;
    const path = `${SIGNAL}?horizon=1`;
    for (;;) {
      const minute = readMinute();
      const { text } = await ask(path);
      const read = vi.spyOn(known, 'findNewest');
      lines.length = 0;
      await delay(1.5 * MAX_ANSWER_AGE_MS);
      expect((await ask(path)).text).toBe(text);
      const count = read.mock.calls.length;
      vi.restoreAllMocks();
      if (minute !== readMinute()) continue;
      expect(count).toBe(0);
      return;
    }
  });
});

it('a process that stops sends no answer again', async () => {
  const ask = await open();
  await ask(SIGNAL);
  stopping.abort();
  expect((await ask(SIGNAL)).status).toBe(503);
});
