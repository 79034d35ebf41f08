import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Caller, PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { OracleError } from '../../../../../src/errors.ts';
import type { AppOptions } from '../../../../../src/http/request.ts';
import { route } from '../../../../../src/http/route.ts';
import { createApp, type ListenOptions } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { asHeader, UNSOLD_PAYMENT } from '../../../../support/commerce/payments.ts';
import { rawConnection, rawExchange } from '../../../../support/http/raw.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';

const log = createLog({ level: 'silent', secrets: [] });
/** More than the kernel takes of a socket that is not read, 4 MB and what its client's kernel takes. */
const LARGE = 'x'.repeat(16_000_000);

const operation = { tag: 'service', summary: 'What a socket is tried on', reply: z.object({ count: z.number() }) } as const;

/** Handler runs so far, and how many of them are under way. */
let handled: number;
let underWay: number;
let maxUnderWay: number;
/** While set, handlers of `/wait` do not return. */
let gate: PromiseWithResolvers<void>;

const ROUTES = [
  route('GET /count', 'count', { ...operation, handle: () => ({ body: { count: ++handled } }) }),
  route('GET /wait', 'wait', {
    ...operation,
    async handle() {
      handled += 1;
      maxUnderWay = Math.max(maxUnderWay, ++underWay);
      await gate.promise;
      underWay -= 1;
      return { body: { count: handled } };
    },
  }),
  route('GET /large', 'large', {
    ...operation,
    reply: null,
    handle: () => ({ raw: LARGE, headers: { 'Content-Type': 'text/plain' } }),
  }),
  route('GET /health', 'health', { ...operation, cost: 'free', handle: () => ({ body: { count: 0 } }) }),
];

let app: Served;
beforeAll(async () => {
  app = await serveApp(createApp(ROUTES, { log, identify }));
});
afterAll(() => app.close());

async function identify(authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return PUBLIC_CALLER;
  if (authorization !== 'Bearer good') throw new OracleError('UNAUTHENTICATED', 'The token is not valid');
  return { tier: 'basic', wallet: '0x00000000000000000000000000000000000000Aa' };
}
beforeEach(() => {
  [handled, underWay, maxUnderWay] = [0, 0, 0];
  gate = Promise.withResolvers();
});

const requestFor = (path: string, ...headers: string[]) => `${[`GET ${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`;

/** A connection that has sent these bytes and reads nothing. */
async function unreadSocket(bytes: string, { url = app.url, localAddress = '127.0.0.1' } = {}): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress }).on('error', () => undefined);
  socket.pause();
  await new Promise<void>((done) => socket.write(bytes, () => done()));
  return socket;
}

/** Whether the server has reset a connection that is not read: only a write finds out, of what HTTP ignores between requests. */
function isReset(socket: Socket): boolean {
  if (!socket.destroyed) socket.write('\r\n');
  return socket.destroyed;
}

describe('pipelined requests', () => {
  it('are answered in order, one at a time', async () => {
    const answered = rawExchange(app.url, requestFor('/wait').repeat(3) + requestFor('/count') + requestFor('/wait', 'Connection: close'));
    await expect.poll(() => underWay).toBe(1);
    gate.resolve();
    expect([...(await answered).matchAll(/"count":(\d)/g)].map(([, count]) => Number(count))).toEqual([1, 2, 3, 4, 5]);
    expect(maxUnderWay).toBe(1);
  });

  it('beyond 16 pending ones reset the connection without running a handler', async () => {
    const { socket, ended } = rawConnection(app.url);
    socket.write(requestFor('/wait').repeat(2_000));
    expect(await ended).toBe('');
    gate.resolve();
    expect(await (await fetch(`${app.url}/count`)).json()).toEqual({ count: 2 });
    expect(maxUnderWay).toBe(1);
  });

  it('run few handlers where the client does not read', async () => {
    const socket = await unreadSocket(requestFor('/count').repeat(20_000));
    await expect.poll(() => isReset(socket)).toBe(true);
    expect(handled).toBeLessThan(20);
  });

  it('of a closed connection run no handler', async () => {
    const { socket } = rawConnection(app.url);
    socket.write(requestFor('/wait').repeat(10));
    await expect.poll(() => underWay).toBe(1);
    socket.resetAndDestroy();
    await once(socket, 'close');
    await fetch(`${app.url}/count`);
    gate.resolve();
    await expect.poll(() => underWay).toBe(0);
    expect(await (await fetch(`${app.url}/count`)).json()).toEqual({ count: 3 });
  });

  it('before or after a handshake end with its response', async () => {
    const handshake = requestFor('/count', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13');
    expect(await rawExchange(app.url, handshake + requestFor('/wait').repeat(1_000))).toMatch(/^HTTP\/1\.1 \d/);
    const { socket, ended } = rawConnection(app.url);
    socket.write(requestFor('/wait') + handshake);
    expect(await ended).toBe('');
    gate.resolve();
    expect(maxUnderWay).toBe(1);
  });
});

/** Does something with a server of other limits. */
async function withServer(listening: ListenOptions, use: (url: string) => Promise<void>, options: Partial<AppOptions> = {}): Promise<void> {
  const other = await serveApp(createApp(ROUTES, { log, identify, ...options }), { listening });
  try {
    await use(other.url);
  } finally {
    await other.close();
  }
}

/** The whole answer to one request from a loopback address; rejects when the connection breaks before. */
function ask(
  url: string,
  path: string,
  { localAddress = '127.0.0.1', headers = {} as Record<string, string>, agent = undefined as Agent | undefined } = {},
) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; bytes: number }>((resolve, reject) => {
    const options = { localAddress, headers, agent: agent ?? false };
    const asked = request(`${url}${path}`, options, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, bytes })).on('error', reject);
    });
    asked.on('error', reject).end();
  });
}

describe('a client that does not read', () => {
  const QUICK = { timeouts: { stalledMs: 800 }, limits: { unsent: { perAddress: 64e6, per56: 64e6, per48: 64e6, overall: 64e6 } } };

  it.each([
    ['keeps its connection', requestFor('/large')],
    ['asks for the connection to be closed', requestFor('/large', 'Connection: close')],
    ['speaks HTTP/1.0', 'GET /large HTTP/1.0\r\n\r\n'],
  ])('is reset once nothing could be written for a while: it %s', async (_how, bytes) => {
    await withServer(QUICK, async (url) => {
      const socket = await unreadSocket(bytes, { url });
      await expect.poll(() => isReset(socket), { timeout: 8_000 }).toBe(true);
    });
  });

  it.runIf(process.platform === 'linux')('is reset also where the kernel has buffered the whole response', async () => {
    const small = route('GET /small', 'small', {
      ...operation,
      reply: null,
      handle: () => ({ raw: LARGE.slice(0, 600_000), headers: { 'Content-Type': 'text/plain' } }),
    });
    const other = await serveApp(createApp([small], { log, identify }), { listening: QUICK });
    for (const header of ['Connection: close', 'X-Kept: yes']) {
      const socket = await unreadSocket(requestFor('/small', header), { url: other.url });
      await expect.poll(() => isReset(socket), { timeout: 10_000 }).toBe(true);
    }
    await other.close();
  });

  it('stays connected while it reads now and then', async () => {
    // Longer than the pauses of a busy machine, shorter than all turns together.
    await withServer({ ...QUICK, timeouts: { stalledMs: 2_000 } }, async (url) => {
      const socket = await unreadSocket(requestFor('/large', 'Connection: close'), { url });
      let bytes = 0;
      for (let turn = 0; turn < 10; turn++) {
        await delay(300);
        for (let taken = 0; taken < 400_000; ) {
          const chunk: Buffer | null = socket.read();
          if (chunk === null) break;
          taken += chunk.length;
          bytes += chunk.length;
        }
      }
      expect(bytes).toBeLessThan(LARGE.length / 2);
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      socket.resume();
      await once(socket, 'close');
      expect(bytes).toBeGreaterThan(LARGE.length);
    });
  });

  it('uses at most the limit of its address, until a new response resets an idle connection', async () => {
    const unsent = { perAddress: LARGE.length * 1.5, per56: 1e9, per48: 1e9, overall: 1e9 };
    await withServer({ limits: { unsent } }, async (url) => {
      const other = await unreadSocket(requestFor('/large'), { url, localAddress: '127.0.0.3' });
      const first = await unreadSocket(requestFor('/large'), { url });
      const refused = await Promise.all([ask(url, '/large'), ask(url, '/large')]);
      expect(refused.map(({ status, headers }) => [status, headers['retry-after']])).toEqual([
        [503, '10'],
        [503, '10'],
      ]);
      expect((await ask(url, '/count')).status).toBe(200);
      expect(isReset(first)).toBe(false);
      await expect.poll(async () => (await ask(url, '/large')).bytes, { timeout: 5_000 }).toBe(LARGE.length);
      await expect.poll(() => isReset(first)).toBe(true);
      expect((await ask(url, '/large')).bytes).toBe(LARGE.length);
      expect(isReset(other)).toBe(false);
    });
  });

  it('reserves no memory for responses that were read, in any encoding', async () => {
    const unsent = { perAddress: LARGE.length * 1.5, per56: 1e9, per48: 1e9, overall: 1e9 };
    await withServer({ limits: { unsent } }, async (url) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const headers = { 'Accept-Encoding': 'gzip' };
      for (let turn = 0; turn < 4; turn++) expect((await ask(url, '/large', { agent, headers })).status).toBe(200);
      for (let turn = 0; turn < 4; turn++) expect((await ask(url, '/large', { agent })).bytes).toBe(LARGE.length);
      agent.destroy();
    });
  });
});

describe('connections', () => {
  /** 64 in all, of which an address has 4. */
  const FEW = { limits: { maxConnections: 64 } };

  /** Connections that send nothing, from so many loopback addresses. */
  async function idle(url: string, addresses: number, each: number): Promise<Socket[]> {
    const from = Array.from({ length: addresses }, (_none, index) => `127.0.1.${index + 1}`);
    const sockets: Socket[] = [];
    for (const localAddress of from) for (let n = 0; n < each; n++) sockets.push(await unreadSocket('', { url, localAddress }));
    return sockets;
  }

  it('beyond the share of an address serve one probe, valid token or payment each', async () => {
    await withServer(FEW, async (url) => {
      await idle(url, 1, 4);
      const localAddress = '127.0.1.1';
      const asked = (path: string, headers = {}) => ask(url, path, { localAddress, headers: { ...headers, Connection: 'keep-alive' } });
      for (const [path, headers] of [
        ['/health', {}],
        ['/count', { Authorization: 'Bearer good' }],
        ['/count', { 'X-PAYMENT': asHeader(UNSOLD_PAYMENT) }],
      ] as const) {
        const { status, headers: responseHeaders } = await asked(path, headers);
        expect([status, responseHeaders.connection], path).toEqual([200, 'close']);
      }
      for (const headers of [{}, { Authorization: 'Bearer forged' }, { 'X-PAYMENT': 'any' }, { 'X-PAYMENT': asHeader({}) }]) {
        const { status, headers: responseHeaders } = await asked('/count', headers);
        expect([status, responseHeaders.connection, responseHeaders['retry-after']]).toEqual([503, 'close', '10']);
      }
      const elsewhere = await ask(url, '/count', { localAddress: '127.0.0.2', headers: { Connection: 'keep-alive' } });
      expect([elsewhere.status, elsewhere.headers.connection]).toEqual([200, 'keep-alive']);
    });
  });

  it('release their slots on close', async () => {
    await withServer(FEW, async (url) => {
      for (let round = 0; round < 3; round++) {
        const sockets = await idle(url, 1, 4);
        for (const socket of sockets) socket.destroy();
        await expect.poll(async () => (await ask(url, '/count', { localAddress: '127.0.1.1' })).status).toBe(200);
      }
    });
  });

  it('of many idle addresses cannot lock out a probe', async () => {
    await withServer(FEW, async (url) => {
      const sockets = await idle(url, 40, 4);
      for (let probe = 0; probe < 5; probe++) expect((await ask(url, '/health', { localAddress: '127.0.0.2' })).status).toBe(200);
      expect((await ask(url, '/count', { localAddress: '127.0.0.2' })).status).toBe(503);
      await expect.poll(() => sockets.filter(isReset).length, { timeout: 5_000 }).toBe(160 - 64);
    });
  });

  it('of a trusted proxy count per forwarded address, by pending requests', async () => {
    const limits = { maxConnections: 64, trustProxy: ['loopback'] };
    const proxied = async (url: string) => {
      const asked = (path: string, address: string, headers = {}) =>
        ask(url, path, { headers: { 'X-Forwarded-For': address, ...headers } });
      const waiting = ['1:1', '1:2', '1:101', '2:1'].map((net) => asked('/wait', `2001:db8:${net}::7`));
      waiting.push(...Array.from({ length: 12 }, (_none, index) => asked('/wait', `2001:db8:9:${(index % 4) * 0x100}::7`)));
      await expect.poll(() => underWay).toBe(16);
      // The /64 has three of its four, the /48 twelve of its sixteen.
      waiting.push(asked('/wait', '2001:db8:9:0::8'));
      await expect.poll(() => underWay).toBe(17);
      expect((await asked('/count', '2001:db8:9:0::9')).status).toBe(503);
      expect((await asked('/health', '2001:db8:9:0::9')).status).toBe(200);
      expect((await asked('/count', '2001:db8:9:0::9', { Authorization: 'Bearer good' })).status).toBe(200);
      expect((await asked('/count', '2001:db8:8::9')).status).toBe(200);
      gate.resolve();
      for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
      expect((await asked('/count', '2001:db8:9:0::9')).status).toBe(200);
    };
    await withServer({ limits }, proxied, { trustProxy: ['loopback'] });
  });
});
