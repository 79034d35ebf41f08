import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRateLimits, createRequestCountStore } from '../../../../../src/auth/rate-limits.ts';
import { formatDay } from '../../../../../src/forecast/day.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { getStepDueMs } from '../../../../../src/pipeline/forecaster.ts';
import { demoWallets, loginToken } from '../../../../support/auth/login.ts';
import { answerOf, fetchOpenApi, type OpenApi, operationsOf } from '../../../../support/http/openapi.ts';
import { faults } from '../../../../support/http/reply-schema.ts';
import { AS_OPERATOR, basic, OPERATOR, type OperatorDoor, operatorDoor } from '../../../../support/service/operator.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

const day = today() - 1;
const UNKNOWN_WALLET = '0x00000000000000000000000000000000000000Aa';

let service: TestService;
let door: OperatorDoor;
let document: OpenApi;
let nowMs: number;

beforeAll(async () => {
  service = await testService(2);
  await runPastDay(service, day - 1, ['open-window']);
  service.progress.complete();
  door = await operatorDoor(service, { now: () => new Date(nowMs) });
  document = await fetchOpenApi(door.url);
});
afterAll(async () => {
  await door.close();
  await service.stop();
});
beforeEach(async () => {
  nowMs = getStepDueMs('wager', day);
  await service.database.db.collection('admin_audit').deleteMany({});
  door.lines.length = 0;
});

type Headers = Record<string, string>;

/** A request of the operator's, unless the headers say otherwise; an operation answers it as the served document says. */
async function ask(
  path: string,
  { method = 'GET', body, headers = {}, at = door }: { method?: string; body?: unknown; headers?: Headers; at?: OperatorDoor } = {},
) {
  const json: Headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const all = { Authorization: AS_OPERATOR, ...json, ...headers };
  const response = await fetch(at.url + path, { method, redirect: 'manual', headers: all, ...init });
  await expectDocumented(method, path, response.clone());
  return response;
}

async function expectDocumented(method: string, path: string, response: Response): Promise<void> {
  const operation = operationsOf(document).find((one) => {
    const pattern = new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}(\\?|$)`);
    return one['x-access'] === 'admin' && one.method === method.toLowerCase() && pattern.test(path);
  });
  if (operation === undefined) return;
  const place = `${method} ${path} ${response.status}`;
  const media = answerOf(document, operation, response.status)?.content?.[response.headers.get('Content-Type')!.split(';')[0]];
  expect(media, place).toBeDefined();
  expect(faults(media!.schema, await response.json(), document.components.schemas), place).toEqual([]);
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function post(path: string, body?: unknown, status = 200, headers: Headers = {}): Promise<any> {
  const response = await ask(path, { method: 'POST', body, headers });
  expect(response.status, path).toBe(status);
  return response.json();
}

async function audit(query = ''): Promise<Record<string, unknown>[]> {
  const response = await ask(`/admin/audit${query}`);
  expect(response.status).toBe(200);
  const { entries, count } = (await response.json()) as { entries: Record<string, unknown>[]; count: number };
  expect(count).toBe(entries.length);
  return entries;
}

/** Every operation of the operator's, its parameters filled in, and what the page asks for. */
function adminPaths(): [method: string, path: string][] {
  const samples: Record<string, string> = { step: 'resolve', id: randomUUID(), wallet: UNKNOWN_WALLET };
  const operations = allRoutes(service.http).filter(({ access }) => access === 'admin');
  expect(operations.length).toBeGreaterThan(7);
  return [
    ...operations.map(({ method, path }): [string, string] => [
      method.toUpperCase(),
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => samples[name]),
    ]),
    ['GET', '/admin'],
    ['GET', '/admin/'],
    ['GET', '/admin/index.html'],
    ['GET', '/admin/assets/'],
    ['GET', '/admin/api'],
    ['GET', '/admin/api/stats'],
    ['POST', '/admin/api/jobs/delete'],
    ['DELETE', '/admin/anything'],
    ['DELETE', '/admin/steps'],
  ];
}

describe('without configured credentials', () => {
  it.each([
    ['api', {}],
    ['worker', OPERATOR],
  ] as const)('returns 404 for every path below /admin to every client: ROLE=%s', async (role, settings) => {
    const closed = await operatorDoor(service, { role, settings });
    const unknown = (await (await fetch(`${closed.url}/nothing`)).json()) as object;
    for (const [method, path] of adminPaths()) {
      for (const headers of [{}, { Authorization: AS_OPERATOR }, { Authorization: basic('', '') }]) {
        const response = await fetch(closed.url + path, { method, headers, redirect: 'manual' });
        expect(response.status, `${method} ${path}`).toBe(404);
        expect(response.headers.get('WWW-Authenticate')).toBeNull();
        expect(await response.json()).toEqual({ ...unknown, instance: path });
      }
    }
    await closed.close();
    expect(await service.database.db.collection('admin_audit').countDocuments()).toBe(0);
  });
});

describe('authentication', () => {
  const wrong: [string, Headers][] = [
    ['nothing', {}],
    ['a wrong password', { Authorization: basic('operator', 'correct horse battery staple') }],
    ['a wrong user', { Authorization: basic('admin', OPERATOR.ADMIN_PASSWORD) }],
    ['both, swapped', { Authorization: basic(OPERATOR.ADMIN_PASSWORD, 'operator') }],
    ['no password', { Authorization: basic('operator', '') }],
    ['an access token', { Authorization: 'Bearer token' }],
    ['what cannot be read', { Authorization: 'Basic ???' }],
  ];

  it.each(wrong)('returns 401 without details for %s', async (_, headers) => {
    for (const [method, path] of adminPaths()) {
      const response = await fetch(door.url + path, { method, headers, redirect: 'manual' });
      expect(response.status, `${method} ${path}`).toBe(401);
      expect(response.headers.get('WWW-Authenticate')).toBe('Basic realm="oracle admin", charset="UTF-8"');
      expect(response.headers.get('Allow')).toBeNull();
      expect(await response.json()).toMatchObject({ code: 'UNAUTHENTICATED', field: 'Authorization' });
    }
    expect(await service.database.db.collection('admin_audit').countDocuments()).toBe(0);
    const warnings = door.lines.filter((line) => line.includes('credentials of the operator refused'));
    expect(warnings).toHaveLength('Authorization' in headers ? adminPaths().length : 0);
    for (const line of warnings) expect(JSON.parse(line)).toMatchObject({ level: 40, ip: '127.0.0.1', requestId: expect.any(String) });
    for (const secret of ['correct', 'horse', headers.Authorization ?? 'correct']) expect(door.lines.join('')).not.toContain(secret);
  });

  it('admits the operator, with responses that are not cached or embedded', async () => {
    for (const path of ['/admin/steps', '/admin/', '/admin/api']) {
      const { status, headers } = await ask(path);
      expect([status, headers.get('WWW-Authenticate')], path).toEqual([200, null]);
      expect(headers.get('Cache-Control')).toContain('no-store');
      expect(headers.get('Cross-Origin-Resource-Policy')).toBe('same-origin');
      expect(headers.get('Vary')).toContain('Authorization');
    }
  });

  it('blocks guessing across all admin paths, the jobs page and its files included', async () => {
    const counts = createRequestCountStore(service.database.db);
    const log = { ...service.log, warn: () => undefined } as unknown as typeof service.log;
    const limits = createRateLimits({ counts, limits: { public: 6, wallet: 6, rpc: 6, tasks: 6 }, now: () => new Date(nowMs), log });
    const guarded = await operatorDoor(service, { limits, now: () => new Date(nowMs) });
    const guess = { headers: { Authorization: basic('operator', 'guess') }, at: guarded };
    const statuses: number[] = [];
    for (const path of [
      '/admin/',
      '/admin/steps',
      '/admin/api',
      '/admin/audit',
      '/admin/assets/',
      '/admin',
      '/admin/',
      '/admin/steps',
      '/admin/api',
    ]) {
      statuses.push((await ask(path, guess)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429, 429]);
    expect((await ask('/admin/', { at: guarded })).status).toBe(429);
    expect(guarded.lines.filter((line) => line.includes('refused'))).toHaveLength(6);
    nowMs += 60_000;
    const planted = { method: 'POST', headers: { 'Sec-Fetch-Site': 'cross-site' }, at: guarded };
    for (let request = 0; request < 10; request++) expect((await ask('/admin/wagers/resume', planted)).status).not.toBe(200);
    for (let request = 0; request < 20; request++) expect((await ask('/admin/steps', { at: guarded })).status).toBe(200);
    await guarded.close();
  });
});

describe('cross-site requests', () => {
  const own = () => new URL(door.url).host;
  const changing = () => adminPaths().filter(([method]) => method !== 'GET');

  it.each([
    ['says so', { 'Sec-Fetch-Site': 'cross-site' }],
    ['of the same site says so', { 'Sec-Fetch-Site': 'same-site' }],
    ['says so, whatever its origin', { 'Sec-Fetch-Site': 'cross-site', Origin: 'OWN' }],
    ['is response by its origin only', { Origin: 'https://example.org' }],
    ['hides its origin', { Origin: 'null' }],
    ['is on another port', { Origin: 'http://127.0.0.1:1' }],
  ])('are rejected even with a valid password: %s', async (_, { Origin, ...rest }: Headers) => {
    const headers: Headers = Origin === undefined ? rest : { ...rest, Origin: Origin === 'OWN' ? `http://${own()}` : Origin };
    for (const [method, path] of changing()) {
      const response = await ask(path, { method, headers, body: {} });
      expect(response.status, `${method} ${path}`).toBe(401);
      expect(await response.json()).toMatchObject({ field: 'Sec-Fetch-Site' in headers ? 'Sec-Fetch-Site' : 'Origin' });
    }
    expect(await audit()).toEqual([]);
  });

  const harmless: Headers[] = [
    {},
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://proxied.example' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: 'OWN' },
  ];

  it.each(harmless)('are not assumed for %j', async (headers) => {
    const sent = headers.Origin === 'OWN' ? { Origin: `http://${own()}` } : headers;
    await post('/admin/wagers/resume', undefined, 200, sent);
  });
});

describe('a step', () => {
  it('is listed with its latest run', async () => {
    const { steps, now } = (await (await ask('/admin/steps')).json()) as { steps: { step: string }[]; now: string };
    expect(now).toBe(new Date(nowMs).toISOString());
    expect(steps.map(({ step }) => step).sort()).toEqual(['attest', 'open-window', 'signal', 'wager']);
    // The public status has no step of wagers.
    expect(steps.filter(({ step }) => step !== 'wager')).toEqual((await service.http.status()).steps);
  });

  it('runs after its scheduled time, idempotently, and audits each attempt', async () => {
    nowMs = getStepDueMs('signal', day) - 1;
    const early = await post('/admin/steps/signal', {}, 409);
    expect(early).toMatchObject({ code: 'CONFLICT', dueAt: new Date(nowMs + 1).toISOString() });
    expect(await service.pipeline.record.findDay(day)).toBeNull();

    nowMs += 1;
    const done = {
      success: true,
      step: 'signal',
      date: formatDay(day),
      state: 'done',
      detail: `forecast at ${new Date(nowMs).toISOString()}`,
    };
    expect(await post('/admin/steps/signal', {})).toEqual(done);
    const stored = await service.pipeline.record.findDay(day);
    nowMs += 1_000;
    expect(await post('/admin/steps/signal', { day: formatDay(day) }, 200, { 'X-Request-Id': 'by-hand-1' })).toEqual(done);
    expect(await service.pipeline.record.findDay(day)).toEqual(stored);

    const entries = await audit();
    expect(entries).toMatchObject([
      { state: 'done', action: 'steps.run', parameters: { step: 'signal', day: formatDay(day) }, requestId: 'by-hand-1', errorCode: null },
      { state: 'done', parameters: { step: 'signal' }, result: `done: ${done.detail}` },
      { state: 'failed', parameters: { step: 'signal' }, errorCode: 'CONFLICT', result: early.detail },
    ]);
    for (const entry of entries) expect(entry).toMatchObject({ user: 'operator', address: '127.0.0.1', endedAt: expect.any(String) });
  });

  it.each([
    ['signal', { day: formatDay(day + 1) }, 'day'],
    ['signal', { day: formatDay(day - 2) }, 'day'],
    ['resolve', { day: formatDay(day) }, 'day'],
    ['signal', { day: '2026-02-30' }, 'day'],
    ['signal', { day: 5 }, 'day'],
    ['signal', { early: true }, 'early'],
    ['everything', {}, 'step'],
  ])('returns an error that names the field: %s %j', async (step, body, field) => {
    const before = await service.pipeline.runs.listLatest();
    expect(await post(`/admin/steps/${step}`, body, 400)).toMatchObject({ code: 'INPUT_INVALID', field });
    expect(await service.pipeline.runs.listLatest()).toEqual(before);
  });

  it('returns 503 during startup', async () => {
    service.progress.startStep('replaying days of history', { done: 3, total: 16 });
    const problem = await post('/admin/steps/resolve', {}, 503);
    service.progress.complete();
    expect(problem).toMatchObject({ code: 'STEP_WAITING', detail: expect.stringContaining('3 of 16') });
    expect(await audit()).toMatchObject([{ state: 'failed', errorCode: 'STEP_WAITING' }]);
  });
});

describe('wagers', () => {
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  const status = async (): Promise<any> => (await fetch(`${door.url}/api/status`)).json();

  it('pause and resume in every process, publicly visible without the reason', async () => {
    const since = new Date(nowMs).toISOString();
    const paused = { success: true, changed: true, paused: true, since, reason: 'odd book', offBySettings: false };
    expect(await post('/admin/wagers/pause', { reason: 'odd book' })).toEqual(paused);
    nowMs += 1_000;
    expect(await post('/admin/wagers/pause', { reason: 'another' })).toEqual({ ...paused, changed: false });
    expect(await service.pipeline.wagerSwitch.getState()).toMatchObject({ paused: true, reason: 'odd book' });
    expect(await status()).toMatchObject({ wagering: { on: false, paused: true, since } });
    expect(JSON.stringify(await status())).not.toContain('odd book');

    const resumed = {
      success: true,
      changed: true,
      paused: false,
      since: new Date(nowMs).toISOString(),
      reason: null,
      offBySettings: false,
    };
    expect(await post('/admin/wagers/resume')).toEqual(resumed);
    expect(await post('/admin/wagers/resume')).toEqual({ ...resumed, changed: false });
    expect(await status()).toMatchObject({ wagering: { on: true, paused: false } });
    expect((await audit()).map(({ action, result }) => `${action}: ${result}`)).toEqual([
      'wagers.resume: not paused, as before',
      'wagers.resume: not paused',
      'wagers.pause: paused, as before',
      'wagers.pause: paused',
    ]);
  });

  it.each([{}, { reason: '' }, { reason: '  ' }, { reason: 'two\nlines' }, { reason: 'x'.repeat(201) }, { reason: 5 }])(
    'are not paused without a one-line reason: %j',
    async (body) => {
      expect(await post('/admin/wagers/pause', body, 400)).toMatchObject({ field: 'reason' });
      expect(await service.pipeline.wagerSwitch.getState()).toMatchObject({ paused: false });
      expect(await audit()).toEqual([]);
    },
  );
});

describe('a webhook', () => {
  it('of any owner is disabled once, without its URL or secret in the response', async () => {
    const wallet = demoWallets(service).basic.address;
    const url = `https://9.9.9.9/${randomUUID()}`;
    const { _id: id, secret } = await service.http.webhooks.register(wallet, { url, events: ['signal.new'] });
    const disabled = await post(`/admin/webhooks/${id.toUpperCase()}/disable`, { reason: 'floods its host' });
    expect(disabled).toEqual({ success: true, id, status: 'disabled', disabledAt: expect.any(String), disabledReason: 'floods its host' });
    expect(await post(`/admin/webhooks/${id}/disable`, { reason: 'again' })).toEqual(disabled);
    expect(await service.http.webhooks.list(wallet)).toMatchObject([{ status: 'disabled', disabledReason: 'floods its host' }]);
    const response = JSON.stringify([disabled, await audit(), door.lines]);
    for (const private_ of [url, secret]) expect(response).not.toContain(private_);
  });

  it('that does not exist returns 404 and audits the attempt', async () => {
    const id = randomUUID();
    expect(await post(`/admin/webhooks/${id}/disable`, { reason: 'none' }, 404)).toMatchObject({ code: 'NOT_FOUND', field: 'id' });
    expect(await audit()).toMatchObject([
      { action: 'webhooks.disable', parameters: { id, reason: 'none' }, state: 'failed', errorCode: 'NOT_FOUND' },
    ]);
  });
});

describe('access', () => {
  const oracle = async (token: string) => (await ask('/api/svc/oracle', { headers: { Authorization: `Bearer ${token}` } })).status;

  it('continues under a new key, or ends with the revoked ones', async () => {
    const token = await loginToken(service, 'basic');
    const { kid, revokedKids } = await post('/admin/keys/rotate', {});
    expect(revokedKids).toEqual([]);
    expect((await service.http.access.keys.listPublicKeys())[0].kid).toBe(kid);
    expect(await oracle(token)).toBe(200);
    const second = await post('/admin/keys/rotate', { revoke: true });
    expect(second.revokedKids).toContain(kid);
    expect(await oracle(token)).toBe(401);
    expect(await oracle(await loginToken(service, 'basic'))).toBe(200);
    expect(await audit()).toMatchObject([
      { action: 'keys.rotate', parameters: { revoke: 'true' }, result: expect.stringContaining(second.kid) },
      { action: 'keys.rotate', parameters: { revoke: 'false' }, result: `new key ${kid}; 0 revoked` },
    ]);
  });

  it('of a wallet ends with its sessions; other wallets keep theirs', async () => {
    const wallet = demoWallets(service).basic.address;
    await service.http.access.revokeAccess(wallet);
    const [basicToken, premiumToken] = [await loginToken(service, 'basic'), await loginToken(service, 'premium')];
    expect(await post(`/admin/wallets/${wallet.toLowerCase()}/revoke`)).toEqual({ success: true, wallet, sessions: 1 });
    expect([await oracle(basicToken), await oracle(premiumToken)]).toEqual([401, 200]);
    expect(await post(`/admin/wallets/${wallet}/revoke`)).toMatchObject({ sessions: 0 });
    expect(await audit()).toMatchObject([
      { result: '0 sessions, API keys and applications ended' },
      { parameters: { wallet }, result: '1 sessions, API keys and applications ended' },
    ]);
    expect(await post('/admin/wallets/0x12/revoke', undefined, 400)).toMatchObject({ field: 'wallet' });
  });
});

describe('the audit log', () => {
  it('lists the newest entries first, up to the limit', async () => {
    for (let index = 0; index < 3; index++) {
      nowMs += 1_000;
      await post('/admin/wagers/resume', undefined, 200, { 'X-Request-Id': `resume-${index}` });
    }
    expect((await audit()).map(({ requestId }) => requestId)).toEqual(['resume-2', 'resume-1', 'resume-0']);
    expect((await audit('?limit=2')).map(({ requestId }) => requestId)).toEqual(['resume-2', 'resume-1']);
    for (const limit of ['0', '501', 'all']) expect((await ask(`/admin/audit?limit=${limit}`)).status).toBe(400);
    expect((await ask('/admin/audit?limit=500')).status).toBe(200);
  });

  it('has no endpoint that deletes entries', async () => {
    for (const method of ['DELETE', 'PUT', 'PATCH', 'POST']) expect((await ask('/admin/audit', { method })).status).toBe(405);
  });

  it('and the log contain no password, however an action ends', async () => {
    await post('/admin/wagers/pause', { reason: 'secrets' });
    await post('/admin/wagers/resume');
    await post('/admin/steps/everything', {}, 400);
    const kept = await service.database.db.collection('admin_audit').find({}).toArray();
    expect(kept).toHaveLength(2);
    const text = JSON.stringify([kept, door.lines]);
    for (const secret of [OPERATOR.ADMIN_PASSWORD, AS_OPERATOR, AS_OPERATOR.slice(6)]) expect(text).not.toContain(secret);
  });
});
