import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { composeWebSocket } from '../../../../src/app/events.ts';
import { composeAppOptions } from '../../../../src/app/transports.ts';
import { loadConfig } from '../../../../src/config.ts';
import { TICKET_SECONDS } from '../../../../src/events/websocket/hub.ts';
import { allRoutes } from '../../../../src/http/routes.ts';
import { createApp, createStartingApp, listen } from '../../../../src/http/server.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { createStartupProgress } from '../../../../src/platform/progress.ts';
import { login, loginToken } from '../../../support/auth/login.ts';
import { regimeDrafts } from '../../../support/events/event-drafts.ts';
import { rawExchange } from '../../../support/http/raw.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { HARDLY_LIMITED, type TestService, testService } from '../../../support/service/service.ts';
import { rawSocket } from '../../../support/websocket/raw-websocket.ts';
import { type Client, openClient, type Refusal, refusalOf } from '../../../support/websocket/websocket-client.ts';

let service: TestService;
let served: Served;
let nowMs: number;
const lines: string[] = [];
const clients: Client[] = [];
const secrets: string[] = [];

/** A service with the clock of the test and a complete log. */
async function open(environment: Record<string, string> = {}): Promise<Served> {
  const { http, infrastructure, push, config: own } = service;
  const now = () => new Date(nowMs);
  const log = createLog({ level: 'trace', secrets: [], write: (line) => void lines.push(line) });
  const config = { ...own, ...loadConfig({ ...HARDLY_LIMITED, ...environment }) };
  const { access, publicUrl } = http;
  const { chainId } = http.chain;
  const view = { saltSecret: infrastructure.saltSecret, policy: 'resolution', publicUrl, chainId } as const;
  const websocket = composeWebSocket({ ...http, log, now }, { access, push, view });
  const identify = (authorization: string | undefined) => access.identify(authorization);
  const door = composeAppOptions({ ...http, config, log, now }, { identify });
  return serve({ http: { ...http, tickets: websocket.tickets, now }, appOptions: door, websocket });
}

beforeAll(async () => {
  service = await testService(0);
  service.progress.complete();
  nowMs = Date.now();
  await service.push.events.append(regimeDrafts(0, 3), new Date(nowMs));
  served = await open();
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
  // The log contains no credentials.
  const log = lines.join('');
  expect(lines.length).toBeGreaterThan(20);
  expect(secrets.length).toBeGreaterThan(10);
  for (const secret of secrets) expect(log).not.toContain(secret);
});
afterEach(async () => {
  for (const { socket, closed } of clients.splice(0)) {
    socket.terminate();
    await closed;
  }
  await expect.poll(() => service.database.db.collection('websocket_slots').countDocuments()).toBe(0);
});

const address = (query = '', at = served) => `${at.url.replace('http', 'ws')}/ws/signal${query}`;

async function token(tier: 'basic' | 'premium' = 'basic'): Promise<string> {
  const issued = await loginToken(service, tier);
  secrets.push(issued, issued.split('.')[2]);
  return issued;
}

async function ticket(headers: Record<string, string>): Promise<{ status: number; body: Record<string, string> }> {
  const response = await fetch(`${served.url}/api/svc/ws/ticket`, { method: 'POST', headers });
  const body = (await response.json()) as Record<string, string>;
  if (response.ok) secrets.push(body.ticket);
  return { status: response.status, body };
}

const bearer = (value: string) => ({ Authorization: `Bearer ${value}` });
const passTime = (ms: number) => {
  nowMs += ms;
};
const newTicket = async (value: string) => (await ticket(bearer(value))).body.ticket;

async function connect(query: string, options: Parameters<typeof openClient>[1] = {}): Promise<Client> {
  const client = await openClient(address(query), options);
  clients.push(client);
  await client.first('connected');
  return client;
}

/** What a refusal is, as over HTTP. */
function expectProblem({ status, headers, body }: Refusal, expected: object): void {
  expect(body).toMatchObject({ status, success: false, instance: '/ws/signal', ...expected });
  expect(headers['content-type']).toContain('application/problem+json');
  expect(headers.connection).toBe('close');
  expect(body.suggestedAction).toEqual(expect.any(String));
}

describe('admission', () => {
  it('a token in the query, as the interface has it, or in `Authorization`', async () => {
    const value = await token('premium');
    const inQuery = await connect(`?token=${value}`);
    expect(inQuery.messages[0].data).toMatchObject({ tier: 'premium', lastEventId: 3 });
    const inHeader = await connect('', { headers: bearer(value) });
    expect(inHeader.messages[0].data).toEqual(inQuery.messages[0].data);
  });

  it('a ticket, once: it has the rights of its session', async () => {
    const value = await token();
    const { status, body } = await ticket(bearer(value));
    expect([status, body.expires_in]).toEqual([200, TICKET_SECONDS]);
    expect(body.url).toBe(`ws://127.0.0.1:3000/ws/signal?ticket=${body.ticket}`);
    const client = await connect(`?ticket=${body.ticket}`);
    expect(client.messages[0].data.tier).toBe('basic');
    expectProblem(await refusalOf(address(`?ticket=${body.ticket}`)), { code: 'UNAUTHENTICATED', field: 'ticket', status: 401 });
    const stored = await service.database.db.collection('websocket_tickets').find().toArray();
    expect(JSON.stringify(stored)).not.toContain(body.ticket);
  });

  it('a ticket of which two try to make use at once: one of them', async () => {
    const value = await newTicket(await token());
    const came = await Promise.allSettled([0, 1, 2, 3].map(() => connect(`?ticket=${value}`)));
    expect(came.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a ticket that was rejected for something else, once that is put right', async () => {
    const session = await token('premium');
    const value = await newTicket(session);
    expectProblem(await refusalOf(address(`?since=4&ticket=${value}`)), { status: 400, field: 'since' });
    const open = await Promise.all([0, 1, 2, 3, 4].map(() => connect(`?token=${session}`)));
    expectProblem(await refusalOf(address(`?ticket=${value}`)), { status: 429, policy: 'connections' });
    open[0].socket.terminate();
    await expect.poll(() => service.database.db.collection('websocket_slots').countDocuments()).toBe(4);
    await connect(`?ticket=${value}`);
  });

  it.each([
    ['has expired', async () => passTime(TICKET_SECONDS * 1_000)],
    [
      'belongs to a session that has ended',
      async (_: string, session: string) =>
        void (await fetch(`${served.url}/api/svc/oracle/session`, { method: 'DELETE', headers: bearer(session) })),
    ],
  ])('no ticket that %s', async (_, spoil) => {
    const session = await token();
    const value = await newTicket(session);
    await spoil(value, session);
    expectProblem(await refusalOf(address(`?ticket=${value}`)), { code: 'UNAUTHENTICATED', field: 'ticket', status: 401 });
  });

  it('issues no ticket without a token', async () => {
    expect((await ticket({})).status).toBe(401);
  });

  it.each<[string, () => Promise<[string, Record<string, string>]>, object]>([
    ['nothing', async () => ['', {}], { status: 401, code: 'UNAUTHENTICATED', field: 'token' }],
    ['a token that is none', async () => ['?token=nonsense', {}], { status: 401, code: 'UNAUTHENTICATED', field: 'token' }],
    [
      'a header that is no token',
      async () => ['', { Authorization: 'Basic abc' }],
      { status: 401, code: 'UNAUTHENTICATED', field: 'Authorization' },
    ],
    ['a ticket that is none', async () => ['?ticket=nonsense', {}], { status: 401, code: 'UNAUTHENTICATED', field: 'ticket' }],
    ['an empty token', async () => ['?token=', {}], { status: 400, code: 'INPUT_INVALID', field: 'token' }],
    [
      'two tokens',
      async () => [`?token=${await token()}&token=${await token()}`, {}],
      { status: 400, code: 'INPUT_INVALID', field: 'token' },
    ],
    ['a token twice over', async () => [`?token=${await token()}`, bearer(await token())], { status: 400, code: 'INPUT_INVALID' }],
    [
      'a token and a ticket',
      async () => [`?token=${await token()}&ticket=${await newTicket(await token())}`, {}],
      { status: 400, code: 'INPUT_INVALID', field: 'token' },
    ],
  ])('rejects %s', async (_, make, expected) => {
    const [query, headers] = await make();
    const refusal = await refusalOf(address(query), { headers });
    expectProblem(refusal, expected);
    if (refusal.status === 401) expect(refusal.headers['www-authenticate']).toContain('Bearer');
  });

  it('not a wallet that holds too little by now, and not a session that was ended', async () => {
    const sessions = service.database.db.collection('sessions');
    const poor = await login(service, 'basic');
    secrets.push(poor.token);
    const reading = { gate: { tier: 'public', balance: '1', blockNumber: 1 }, gateReadAt: new Date(Date.now() + 60_000) };
    await sessions.updateMany({ wallet: poor.wallet }, { $set: reading });
    const refusal = await refusalOf(address(`?token=${poor.token}`));
    expectProblem(refusal, { status: 403, code: 'TIER_REQUIRED', requiredTier: 'basic' });
    const ended = await token('premium');
    await fetch(`${served.url}/api/svc/oracle/session`, { method: 'DELETE', headers: bearer(ended) });
    expectProblem(await refusalOf(address(`?token=${ended}`)), { status: 401, code: 'UNAUTHENTICATED', field: 'token' });
  });
});

describe('what is asked for', () => {
  it.each([
    ['events=signal.old', 'events'],
    ['events=', 'events'],
    ['events=signal.new,', 'events'],
    ['horizons=4d', 'horizons'],
    ['moveSize=HUGE', 'moveSize'],
    ['moveSize=', 'moveSize'],
    ['horizons=7d&horizons=3d', 'horizons'],
    ['horizons=all,7d', 'horizons'],
    ['horizon=4', 'horizon'],
    ['horizon=2d,7d', 'horizon'],
    ['horizon=2d&horizons=7d', 'horizon'],
    ['since=-1', 'since'],
    ['sinceId=-1', 'sinceId'],
    ['since=1&sinceId=1', 'sinceId'],
    ['since=1.5', 'since'],
    ['since=4', 'since'],
    ['since=99999999999999999999', 'since'],
  ])('%s is rejected by name', async (query, field) => {
    expectProblem(await refusalOf(address(`?${query}`), { headers: bearer(await token('premium')) }), {
      status: 400,
      code: 'INPUT_INVALID',
      field,
    });
  });

  it.each([
    ['', ['7d']],
    ['?horizon=2d', ['2d']],
    ['?horizon=1', ['1d']],
    ['?horizons=7,2d', ['2d', '7d']],
    ['?horizons=all', null],
    ['?moveSize=WILD', ['1d']],
    ['?moveSize=WILD&horizon=7d', ['7d']],
  ])('subscribes with the query "%s" to the horizons %j', async (query, horizons) => {
    const client = await connect(query, { headers: bearer(await token('premium')) });
    expect(client.messages[0].data.subscription.horizons).toEqual(horizons);
  });

  it('is what comes, and what is not known is let pass', async () => {
    const client = await connect('?events=regime.changed,signal.new&horizons=7d,2d&sinceId=1&utm_source=x', {
      headers: bearer(await token('premium')),
    });
    expect(client.messages[0].data.subscription).toEqual({
      events: ['signal.new', 'regime.changed'],
      horizons: ['2d', '7d'],
      moveSize: null,
    });
    await client.first('replay.complete');
    expect(client.eventIds()).toEqual([2, 3]);
  });
});

describe('a page', () => {
  const ORIGINS = ['http://127.0.0.1:3000', 'https://app.example.org', 'moz-extension://abc', 'null'];

  it.each(ORIGINS)('of the origin %s connects with a ticket or a token', async (origin) => {
    const value = await token('premium');
    await connect(`?ticket=${await newTicket(value)}`, { origin });
    await connect(`?token=${value}`, { origin });
  });

  it.each(ORIGINS)('of the origin %s gets 401 with cookies alone', async (origin) => {
    const value = await token('premium');
    const cookie = ['token', 'ticket', 'session', 'Authorization'].map((name) => `${name}=${value}`).join('; ');
    expectProblem(await refusalOf(address(), { origin, headers: { Cookie: cookie } }), { status: 401, code: 'UNAUTHENTICATED' });
  });
});

describe('how many', () => {
  it('allows five per wallet; rejects the sixth with an action, even with a ticket of another session', async () => {
    const value = await token('premium');
    for (let index = 0; index < 5; index++) await connect(`?token=${value}`);
    const refusal = await refusalOf(address(`?ticket=${await newTicket(await token('premium'))}`));
    expectProblem(refusal, { status: 429, code: 'RATE_LIMITED', retryable: true, policy: 'connections', limit: 5 });
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('handshakes a minute: without a good token by address, with one by wallet', async () => {
    // A minute without requests.
    passTime(60_000);
    const strict = await open({ RATE_LIMIT_PUBLIC: '3', RATE_LIMIT_WALLET: '4' });
    try {
      const value = await token('premium');
      const refusals: Refusal[] = [];
      for (let index = 0; index < 4; index++) refusals.push(await refusalOf(address('?token=nonsense', strict)));
      expect(refusals.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
      expect(refusals[3].body).toMatchObject({ policy: 'public', limit: 3 });
      expect(refusals[0].headers.ratelimit).toContain('"public";r=2');
      const { head, socket } = await rawSocket(address(`?token=${value}`, strict));
      expect(head).toMatch(/^HTTP\/1\.1 101 .*\r\nRateLimit: "wallet";r=3/s);
      expect(head).toMatch(/X-Request-Id: [\w-]+/);
      socket.destroy();
      for (let index = 0; index < 3; index++) (await rawSocket(address(`?token=${value}`, strict))).socket.destroy();
      expectProblem(await refusalOf(address(`?token=${value}`, strict)), { status: 429, policy: 'wallet', limit: 4 });
    } finally {
      await strict.close();
    }
  });
});

it('are counted by address when they are malformed, also with a good token', async () => {
  passTime(60_000);
  const strict = await open({ RATE_LIMIT_PUBLIC: '3' });
  const headers = bearer(await token('premium'));
  const malformed = address('?since=-1', strict);
  const statuses = [
    (await refusalOf(malformed, { headers })).status,
    (await refusalOf(address('?horizon=4', strict), { headers })).status,
    (await refusalOf(malformed)).status,
    (await refusalOf(malformed)).status,
  ];
  await strict.close();
  expect(statuses).toEqual([400, 400, 400, 429]);
});

it('are counted by the address that a trusted proxy names', async () => {
  passTime(60_000);
  const behind = await open({ RATE_LIMIT_PUBLIC: '1', TRUST_PROXY: '1' });
  const statusFor = async (ip: string) =>
    (await refusalOf(address('?token=nonsense', behind), { headers: { 'X-Forwarded-For': ip } })).status;
  const statuses = [await statusFor('203.0.113.1'), await statusFor('203.0.113.1'), await statusFor('203.0.113.2')];
  await behind.close();
  expect(statuses).toEqual([401, 429, 401]);
});

describe('what is no handshake', () => {
  const plain = (path: string, headers: Record<string, string> = {}, method = 'GET', version = '1.1') =>
    rawExchange(
      served.url,
      [`${method} ${path} HTTP/${version}`, 'Host: 127.0.0.1', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
        .join('\r\n')
        .concat('\r\n\r\n'),
    );
  const UPGRADE = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };

  it('responds 426 and names the protocol', async () => {
    const response = await fetch(`${served.url}/ws/signal`);
    expect([response.status, response.headers.get('upgrade'), response.headers.get('sec-websocket-version')]).toEqual([
      426,
      'websocket',
      '13',
    ]);
    expect(await response.json()).toMatchObject({
      code: 'UPGRADE_REQUIRED',
      suggestedAction: expect.stringContaining('ws://127.0.0.1:3000/ws/signal'),
    });
  });

  it('of another version responds with the supported version', async () => {
    const answer = await plain('/ws/signal', { ...UPGRADE, 'Sec-WebSocket-Version': '8' });
    expect(answer).toMatch(/^HTTP\/1\.1 426 /);
    expect(answer).toContain('Sec-WebSocket-Version: 13');
  });

  it.each([undefined, 'short', 'dGhlIHNhbXBsZSBub25jZQ=', `${'A'.repeat(43)}=`])(
    'with the key %s is rejected, and uses up no ticket',
    async (key) => {
      const value = await newTicket(await token('premium'));
      const { 'Sec-WebSocket-Key': _, ...others } = UPGRADE;
      const answer = await plain(`/ws/signal?ticket=${value}`, { ...others, ...(key === undefined ? {} : { 'Sec-WebSocket-Key': key }) });
      expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"field":"Sec-WebSocket-Key"/);
      await connect(`?ticket=${value}`);
    },
  );

  it('by another method is rejected', async () => {
    expect(await plain('/ws/signal', UPGRADE, 'POST')).toMatch(/^HTTP\/1\.1 405 [\s\S]*METHOD_NOT_ALLOWED/);
  });

  it('over HTTP/1.0, or with a body, is rejected', async () => {
    const field = async (...sent: Parameters<typeof plain>) => /^HTTP\/1\.1 400 [\s\S]*"field":"([\w-]+)"/.exec(await plain(...sent))?.[1];
    expect(await field('/ws/signal', UPGRADE, 'GET', '1.0')).toBe('Upgrade');
    expect(await field('/ws/signal', { ...UPGRADE, 'Content-Length': '5' })).toBe('Content-Length');
    expect(await field('/ws/signal', { ...UPGRADE, 'Transfer-Encoding': 'chunked' })).toBe('Transfer-Encoding');
    const value = await token('premium');
    const { head, socket } = await rawSocket(address(`?token=${value}`), { headers: ['Content-Length: 0'] });
    expect(head).toContain(' 101 ');
    socket.destroy();
  });

  it('at another path is rejected, and the connection ends', async () => {
    expect(await plain('/api/btc-price', UPGRADE)).toMatch(/^HTTP\/1\.1 404 [\s\S]*Connection: close[\s\S]*"code":"NOT_FOUND"/);
  });

  it('of another protocol is answered in HTTP/1.1, as to a client that would rather speak h2c', async () => {
    const answer = await plain('/health', {
      Connection: 'Upgrade, HTTP2-Settings, close',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAMAAABkAAQAAP__',
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('too long is rejected', async () => {
    expectProblem(await refusalOf(address(`?x=${'y'.repeat(5_000)}`)), { status: 414, code: 'URL_TOO_LONG' });
  });
});

describe('a service that starts or stops', () => {
  it('responds 503 until it accepts connections', async () => {
    const server = await listen(
      createStartingApp({ log: service.log, publicUrl: 'http://127.0.0.1', setup: createStartupProgress() }),
      0,
      '127.0.0.1',
    );
    expectProblem(await refusalOf(`ws://127.0.0.1:${server.port}/ws/signal`), { status: 503, code: 'STEP_WAITING', retryable: true });
    await server.close();
  });

  it('responds 503 even when all else is served, so that clients retry', async () => {
    const server = await listen(
      createStartingApp({ log: service.log, publicUrl: 'http://127.0.0.1', setup: createStartupProgress() }),
      0,
      '127.0.0.1',
    );
    server.serve(createApp(allRoutes(service.http), service.appOptions));
    expect((await fetch(`http://127.0.0.1:${server.port}/ready`)).status).toBe(200);
    expectProblem(await refusalOf(`ws://127.0.0.1:${server.port}/ws/signal`), { status: 503, code: 'STEP_WAITING', retryable: true });
    await server.close();
  });

  it('closes connections with 1001 and accepts no new ones', async () => {
    const stopping = await open();
    const value = await token('premium');
    const client = await openClient(address(`?token=${value}`, stopping));
    const closing = stopping.close();
    expect((await client.closed).code).toBe(1001);
    await closing;
    await expect(openClient(address(`?token=${value}`, stopping))).rejects.toThrow();
  });
});
