import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OTEL_PACKAGES } from '../../../bin/service/otel-packages.mjs';
import type { DemoFile } from '../../../src/dev/demo.ts';
import { parseTraceparent } from '../../../src/platform/tracing.ts';
import { signedLogin } from '../../support/auth/login.ts';
import { payingFetch } from '../../support/commerce/payments.ts';
import { linkEngineCache } from '../../support/database/engine.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';
import { spawnNode } from '../../support/service/service.ts';
import { type Received, startReceiver } from '../../support/webhooks/receiver.ts';
import packageJson from '../package.json' with { type: 'json' };
import { type CollectedSpan, startCollector } from './otlp-collector.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const MODULES = join(ROOT, 'test/conformance/node_modules');
/** The caller does not record its trace; this service does. */
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const TRACED = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-00` };
const MESSAGE_TRACE_ID = 'c'.repeat(32);
const SECRET_QUERY = 'horizon=7d';

let spans: readonly CollectedSpan[];
let deliveries: readonly Received[];
/** What must be in no span. */
const hidden: string[] = [];

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'oracle-traces-'));
  await linkEngineCache(dataDir);
  const [collector, receiver] = [await startCollector(), await startReceiver(200)];
  const service = await startService({
    DATA_DIR: dataDir,
    REPLAY_DAYS: '2',
    PUSH_LOCAL_TARGETS: 'allow',
    NODE_PATH: MODULES,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${pathToFileURL(join(ROOT, 'bin/service/otel.mjs'))}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const { wallets } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as DemoFile;
  await pay(service, wallets.buyer!.privateKey);
  await replayWebhook(service, { privateKey: wallets.premium!.privateKey, target: receiver.url });
  await callTool(service);
  deliveries = await receiver.until(1);
  service.child.kill('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0 });
  spans = [...collector.spans];
  await Promise.all([collector.close(), receiver.close(), removeFolder(dataDir)]);
});
afterAll(() => expect(spans.length).toBeGreaterThan(0));

async function pay({ url }: RunningService, privateKey: `0x${string}`): Promise<void> {
  const account = privateKeyToAccount(privateKey);
  const answer = await payingFetch(account)(`${url}/oracle?${SECRET_QUERY}`, { headers: TRACED });
  expect(answer.status).toBe(200);
  hidden.push(account.address);
}

/** Registers a webhook and replays the newest event to it, in the caller's trace. */
async function replayWebhook(
  { url }: RunningService,
  { privateKey, target }: { privateKey: `0x${string}`; target: string },
): Promise<void> {
  const login = await signedLogin(privateKeyToAccount(privateKey), Date.now());
  // biome-ignore lint/suspicious/noExplicitAny: three bodies of which one field is read
  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<any> => {
    const sent = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
    const response = await fetch(url + path, sent);
    expect(response.status, path).toBeLessThan(300);
    return response.json();
  };
  const { token } = await post('/api/svc/oracle/verify', login);
  const headers = { ...TRACED, Authorization: `Bearer ${token}` };
  const { id, secret } = await post('/api/svc/webhooks/register', { url: `${target}/secret-path`, events: ['signal.new'] }, headers);
  await post(`/api/svc/webhooks/${id}/replay`, { sinceId: 0 }, headers);
  hidden.push(token, secret, 'secret-path');
}

async function callTool({ url }: RunningService): Promise<void> {
  const _meta = { traceparent: `00-${MESSAGE_TRACE_ID}-${'d'.repeat(16)}-01` };
  const params = { name: 'get_market_context', arguments: {}, _meta };
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2025-06-18',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  expect((await fetch(`${url}/mcp`, { method: 'POST', headers, body })).status).toBe(200);
}

const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId);
const namesOf = (traceId: string) => ofTrace(traceId).map(({ name }) => name);

describe('a service with an SDK', () => {
  it("joins request, settlement, transaction, commands of the database and webhook under the caller's trace", () => {
    const expected = [
      'GET /oracle',
      'x402 settlement',
      'transaction facilitator',
      'POST /api/svc/webhooks/:id/replay',
      'webhook signal.new',
    ];
    expect(namesOf(CALLER.traceId)).toEqual(expect.arrayContaining([...expected, 'insert transactions', 'insert webhook_deliveries']));
    const known = new Set([CALLER.spanId, ...ofTrace(CALLER.traceId).map(({ spanId }) => spanId)]);
    expect(ofTrace(CALLER.traceId).filter(({ parentSpanId }) => !known.has(parentSpanId!))).toEqual([]);
  });

  it('hands its own span on to the receiver of the webhook', () => {
    const sent = parseTraceparent(deliveries[0]!.headers.traceparent)!;
    expect(sent).toMatchObject({ traceId: CALLER.traceId, isSampled: true });
    expect(ofTrace(CALLER.traceId).find(({ spanId }) => spanId === sent.spanId)).toMatchObject({ name: 'webhook signal.new' });
  });

  it('runs a tool in the trace of its MCP message, linked to the HTTP request', () => {
    expect(namesOf(MESSAGE_TRACE_ID)).toEqual(expect.arrayContaining(['tools/call get_market_context', 'skill get_market_context']));
    const [link] = ofTrace(MESSAGE_TRACE_ID).find(({ name }) => name.startsWith('tools/call'))!.links!;
    expect(spans.find(({ spanId }) => spanId === link!.spanId)).toMatchObject({ name: 'POST /mcp', traceId: link!.traceId });
  });

  it('gives each job a trace of its own, and none to what polls outside of a trace', () => {
    const jobs = spans.filter(({ name }) => name.startsWith('job '));
    expect(new Set(jobs.map(({ traceId }) => traceId)).size).toBe(jobs.length);
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined || parentSpanId === '').map(({ name }) => name);
    expect(roots.filter((name) => !/^(job|step|transaction|agent-commerce|GET|POST) ?/.test(name))).toEqual([]);
  });

  it('puts no value of a forecast, no credential, no wallet and no query into a span', () => {
    const keys = new Set(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)));
    const http = ['http.request.method', 'http.response.status_code', 'http.route'];
    expect(
      [...keys].filter((key) => ![...http, 'db.system.name', 'db.operation.name', 'db.collection.name', 'error.type'].includes(key)),
    ).toEqual([]);
    const text = JSON.stringify(spans);
    for (const value of [...hidden, SECRET_QUERY, 'BUY', 'SELL', 'Bearer', '0x']) expect(text).not.toContain(value);
  });
});

it.each([
  ['on', '50'],
  ['off', '0'],
])("records a client's trace as the sampler decides for a root, whatever the client's flag: %s", async (roots, count) => {
  const run = spawnNode(['test/conformance/traces/sampling.ts', roots], {});
  expect(await run.ended).toMatchObject({ code: 0, output: `${count}\n` });
});

it('refuses to start without the SDK, and names the command that installs it', async () => {
  const { code, output } = await spawnNode(['--import', './bin/service/otel.mjs', 'bin/start.mjs'], { NODE_PATH: '' }).ended;
  expect(code).toBe(1);
  expect(output).toContain('npm install --prefix /opt/otel @opentelemetry/sdk-trace-node@');
});

it('is tested with the versions that it asks to install', () => {
  expect(packageJson.dependencies).toMatchObject(OTEL_PACKAGES);
});
