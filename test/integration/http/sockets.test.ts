import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../src/http/app.ts';
import { route } from '../../../src/http/route.ts';
import { createLog } from '../../../src/log.ts';
import { PUBLIC_CALLER } from '../../../src/record/caller.ts';
import { rawConnection, rawExchange } from '../../support/raw.ts';
import { type Served, serveApp } from '../../support/serve.ts';

const log = createLog({ level: 'silent', secrets: [] });
const operation = { tag: 'service', summary: 'What a socket is tried on', reply: z.object({ count: z.number() }) } as const;

/** Handler runs so far, and how many of them are under way. */
let handled: number;
let underWay: number;
let maxUnderWay: number;
/** While set, handlers of `/wait` do not return. */
let gate: PromiseWithResolvers<void>;

const ROUTES = [
  route({ ...operation, path: '/count', name: 'count', handle: () => ({ body: { count: ++handled } }) }),
  route({
    ...operation,
    path: '/wait',
    name: 'wait',
    async handle() {
      handled += 1;
      maxUnderWay = Math.max(maxUnderWay, ++underWay);
      await gate.promise;
      underWay -= 1;
      return { body: { count: handled } };
    },
  }),
];

let app: Served;
beforeAll(async () => {
  app = await serveApp(createApp(ROUTES, { log, identify: async () => PUBLIC_CALLER }));
});
afterAll(() => app.close());
beforeEach(() => {
  [handled, underWay, maxUnderWay] = [0, 0, 0];
  gate = Promise.withResolvers();
});

const requestFor = (path: string, ...headers: string[]) => `${[`GET ${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`;

/** A connection that has sent these bytes and reads nothing. */
async function unreadSocket(bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.pause();
  await new Promise<void>((done) => socket.write(bytes, () => done()));
  return socket;
}

/** Whether the server has reset a connection that is not read: only a write finds out. */
function isReset(socket: Socket): boolean {
  if (!socket.destroyed) socket.write('x');
  return socket.destroyed;
}

describe('pipelined requests', () => {
  it('are answered in their order, one at a time', async () => {
    const answered = rawExchange(app.url, requestFor('/wait').repeat(3) + requestFor('/count') + requestFor('/wait', 'Connection: close'));
    await expect.poll(() => underWay).toBe(1);
    gate.resolve();
    expect([...(await answered).matchAll(/"count":(\d)/g)].map(([, count]) => Number(count))).toEqual([1, 2, 3, 4, 5]);
    expect(maxUnderWay).toBe(1);
  });

  it('beyond 16 that wait end the connection, and run no handler', async () => {
    const { socket, ended } = rawConnection(app.url);
    socket.write(requestFor('/wait').repeat(2_000));
    expect(await ended).toBe('');
    gate.resolve();
    expect(await (await fetch(`${app.url}/count`)).json()).toEqual({ count: 2 });
    expect(maxUnderWay).toBe(1);
  });

  it('that nobody reads run few handlers, whatever is sent', async () => {
    const socket = await unreadSocket(requestFor('/count').repeat(20_000));
    await expect.poll(() => isReset(socket)).toBe(true);
    expect(handled).toBeLessThan(20);
  });

  it('of a connection that its client has closed run no handler', async () => {
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

  it('before or behind a handshake end with the answer to it', async () => {
    const handshake = requestFor('/count', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13');
    expect(await rawExchange(app.url, handshake + requestFor('/wait').repeat(1_000))).toMatch(/^HTTP\/1\.1 \d/);
    const { socket, ended } = rawConnection(app.url);
    socket.write(requestFor('/wait') + handshake);
    expect(await ended).toBe('');
    gate.resolve();
    expect(maxUnderWay).toBe(1);
  });
});
