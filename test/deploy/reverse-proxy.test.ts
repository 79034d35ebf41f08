import { createServer, type Server } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { describeWithPrograms } from '../support/deploy/programs.ts';
import { PROXY_HOST, type RunningProxy, startProxy } from '../support/deploy/proxies.ts';

/** The service's place: says what reached it, and sends a stream of which only the beginning comes. */
function startUpstream(): Promise<Server> {
  const server = createServer((incoming, response) => {
    const { host, 'x-forwarded-for': forwardedFor } = incoming.headers;
    if (incoming.url === '/stream') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
    if (incoming.url === '/terms') return void response.writeHead(402, { 'payment-required': 'x'.repeat(12_000) }).end();
    incoming.resume().on('end', () => response.end(JSON.stringify({ host, forwardedFor })));
  });
  const sockets = new WebSocketServer({ server, path: '/ws/signal' });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
  return new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(server)));
}

describeWithPrograms('the shipped reverse proxies', ['nginx', 'caddy'], (programs) => {
  describe.each(['nginx', 'caddy'] as const)('%s', (name) => {
    let proxy: RunningProxy;
    let upstream: Server;
    const agent = new Agent({ keepAlive: false, rejectUnauthorized: false });
    const tls = () => ({ host: '127.0.0.1', port: proxy.port, servername: PROXY_HOST, rejectUnauthorized: false });

    beforeAll(async () => {
      upstream = await startUpstream();
      proxy = await startProxy(name, programs[name], [`127.0.0.1:${(upstream.address() as AddressInfo).port}`]);
    });
    afterAll(async () => {
      agent.destroy();
      await proxy?.stop();
      upstream.closeAllConnections();
      upstream.close();
    });

    async function ask(options: RequestOptions, body = ''): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
      const { promise, resolve, reject } = Promise.withResolvers<{ status: number; headers: Record<string, unknown>; text: string }>();
      const sent = request(
        { ...tls(), agent, path: '/', ...options, headers: { host: PROXY_HOST, ...options.headers } },
        async (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
            if (options.path === '/stream') done();
          });
          const done = () => resolve({ status: response.statusCode!, headers: response.headers, text });
          response.on('end', done);
        },
      );
      sent.on('error', reject);
      sent.end(body);
      return promise;
    }

    it('passes Host on, says who asks whatever the client claims, and adds HSTS', async () => {
      const { status, headers, text } = await ask({ headers: { 'x-forwarded-for': '203.0.113.9' } });
      expect([status, headers['strict-transport-security']]).toEqual([200, 'max-age=63072000']);
      expect(JSON.parse(text)).toEqual({ host: PROXY_HOST, forwardedFor: '127.0.0.1' });
    });

    it('passes an answer on whose head has the terms of a payment', async () => {
      const { status, headers } = await ask({ path: '/terms' });
      expect([status, String(headers['payment-required']).length]).toEqual([402, 12_000]);
    });

    it("keeps the operator's area and metrics inside", async () => {
      for (const path of ['/admin', '/ADMIN/jobs', '/metrics']) expect((await ask({ path })).status, path).toBe(404);
    });

    it('logs neither query strings nor headers of requests', async () => {
      await ask({ path: '/api/svc/open/signal?token=very-secret', headers: { authorization: 'Bearer also-secret', cookie: 'secret=1' } });
      await vi.waitFor(async () => expect(await proxy.readLog()).toContain('/api/svc/open/signal'));
      expect(await proxy.readLog()).not.toMatch(/secret/);
    });

    it('rejects bodies and heads that are too large', async () => {
      expect((await ask({ method: 'POST' }, 'x'.repeat(60_000))).status).toBe(200);
      expect((await ask({ method: 'POST' }, 'x'.repeat(70_000)).catch(() => ({ status: 413 }))).status).toBeGreaterThanOrEqual(400);
      const head = { headers: { 'x-long': 'x'.repeat(40_000) } };
      expect((await ask(head).catch(() => ({ status: 431 }))).status).toBeGreaterThanOrEqual(400);
    });

    it('passes on WebSockets, and streams as they come', async () => {
      const socket = new WebSocket(`wss://127.0.0.1:${proxy.port}/ws/signal`, { ...tls(), headers: { host: PROXY_HOST } });
      const echoed = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))));
      socket.once('open', () => socket.send('hello'));
      expect(await echoed).toBe('hello');
      socket.terminate();
      expect((await ask({ path: '/stream' })).text).toBe('data: first\n\n');
    });

    it('ends a connection whose head never ends', async () => {
      const started = performance.now();
      const socket = connect(tls());
      socket.write(`GET / HTTP/1.1\r\nHost: ${PROXY_HOST}\r\nX-`);
      await new Promise((closed) =>
        socket
          .on('error', () => {})
          .once('close', closed)
          .resume(),
      );
      expect(performance.now() - started).toBeLessThan(15_000);
    });

    it.skipIf(name === 'caddy')('rejects more connections of an address than configured', async () => {
      const streams = Array.from({ length: 50 }, () => ask({ path: '/stream', agent: false }));
      await Promise.all(streams);
      expect((await ask({})).status).toBe(503);
    });
  });
});
