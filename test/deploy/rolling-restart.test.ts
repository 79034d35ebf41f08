import { Agent, type RequestOptions, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { asTier, loginToken } from '../support/auth/login.ts';
import { type Buyer, demoBuyer } from '../support/commerce/buyer.ts';
import { describeWithPrograms } from '../support/deploy/programs.ts';
import { PROXY_HOST, type RunningProxy, startProxy } from '../support/deploy/proxies.ts';
import { findFreePort } from '../support/http/serve.ts';
import { type RunningService, startService } from '../support/service/running-service.ts';
import { type TestService, unresolvedService } from '../support/service/service.ts';
import { type Receiver, startReceiver } from '../support/webhooks/receiver.ts';

const DRAIN_SECONDS = 3;
/** The proxies say nothing of what they have seen; Caddy asks every second. */
const PROXY_SEES_MS = 3_000;
const EVENT_EVERY_MS = 40;
const PRICE_MICROS = 1_000n;

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

interface Process {
  role: 'api' | 'worker';
  port: number;
  running: RunningService;
}

describeWithPrograms('two API processes and two workers behind a proxy', ['nginx', 'caddy'], (programs) => {
  let service: TestService;
  let processes: Process[];
  let receiver: Receiver;

  beforeAll(async () => {
    [service, receiver] = await Promise.all([unresolvedService(3), startReceiver(200)]);
    processes = await Promise.all(
      (['api', 'api', 'worker', 'worker'] as const).map(async (role) => {
        const port = await findFreePort();
        return { role, port, running: await startProcess(role, port) };
      }),
    );
  });
  afterAll(async () => {
    for (const { running } of processes ?? []) running.child.kill('SIGKILL');
    await receiver?.close();
    await service?.stop();
  });

  function startProcess(role: Process['role'], port: number): Promise<RunningService> {
    const { dataDir, infrastructure } = service;
    return startService({
      ...{ DATA_DIR: dataDir, ROLE: role, PORT: String(port), PUBLIC_URL: `https://${PROXY_HOST}`, TRUST_PROXY: 'loopback' },
      ...{ CHAIN_RPC_URL: infrastructure.rpcUrl, CHAIN_LOCAL: '1', MONGODB_URI: infrastructure.mongodbUri },
      ...{ DRAIN_SECONDS: String(DRAIN_SECONDS), PUSH_LOCAL_TARGETS: 'allow' },
    });
  }

  /** As an operator restarts them: one after the other, the next when the proxy has seen that the last is back. */
  async function restartAll(): Promise<void> {
    for (const one of processes) {
      one.running.child.kill('SIGTERM');
      expect(await one.running.ended).toMatchObject({ code: 0 });
      one.running = await startProcess(one.role, one.port);
      await delay(PROXY_SEES_MS);
    }
  }

  describe.each(['nginx', 'caddy'] as const)('%s', (name) => {
    let proxy: RunningProxy;
    let buyer: Buyer;
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 16 });

    beforeAll(async () => {
      const upstreams = processes.filter(({ role }) => role === 'api').map(({ port }) => `127.0.0.1:${port}`);
      proxy = await startProxy(name, programs[name], upstreams);
      buyer = demoBuyer(service);
    });
    afterAll(async () => {
      agent.destroy();
      await proxy?.stop();
    });

    const target = () => ({ host: '127.0.0.1', port: proxy.port, servername: PROXY_HOST, rejectUnauthorized: false });

    function ask(options: RequestOptions, body?: object): Promise<Answer> {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const headers = { host: PROXY_HOST, ...(body && { 'content-type': 'application/json' }), ...options.headers };
      const sent = request({ ...target(), agent, ...options, headers }, async (response) => {
        const text = (await response.setEncoding('utf8').toArray().catch(reject))?.join('') ?? '';
        resolve({ status: response.statusCode!, headers: response.headers, text });
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
      return promise;
    }

    const callTool = () =>
      ask(
        { method: 'POST', path: '/mcp', headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' } },
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_market_context', arguments: {} } },
      );

    it('counts the limits of clients by their own addresses, whatever they claim', async () => {
      const remaining = async (localAddress: string) => {
        const options = { path: '/api/svc/open/range', agent: new Agent(), localAddress, headers: { 'x-forwarded-for': '203.0.113.7' } };
        return Number(/r=(\d+)/.exec(String((await ask(options)).headers.ratelimit))![1]);
      };
      const [one, other] = [name === 'nginx' ? '127.0.0.2' : '127.0.0.4', name === 'nginx' ? '127.0.0.3' : '127.0.0.5'];
      const first = await remaining(one);
      // Processes take shares of a limit, so that it may go down by more than one.
      expect(await remaining(one)).toBeLessThan(first);
      expect(await remaining(other)).toBe(first);
    });

    it('passes on REST, MCP, A2A streams and WebSockets', async () => {
      expect((await ask({ path: '/api/svc/open/signal' })).status).toBe(200);
      expect((await callTool()).status).toBe(200);
      const parts = [{ data: { skill: 'get_market_context', input: {} } }];
      const message = { messageId: `${name}-1`, role: 'ROLE_USER', parts };
      const streamed = await ask({ method: 'POST', path: '/a2a/rest/v1/message:stream', headers: { 'a2a-version': '1.0' } }, { message });
      expect([streamed.status, streamed.headers['content-type']]).toEqual([200, 'text/event-stream']);
      expect(streamed.text.match(/^data: /gm)!.length).toBeGreaterThan(1);
      const socket = new WebSocket(`wss://127.0.0.1:${proxy.port}/ws/signal`, {
        ...target(),
        headers: { host: PROXY_HOST, ...(await asTier(service, 'basic')) },
      });
      await new Promise((opened, failed) => socket.once('open', opened).once('error', failed));
      socket.terminate();
      expect(await proxy.readLog()).not.toMatch(/eyJ/);
    });

    it('fails no request, loses no event and settles each payment once while all are restarted', { timeout: 300_000 }, async () => {
      const failures: string[] = [];
      const counts: Record<string, number> = {};
      const before = await buyer.money();
      const firstId = (await service.push.events.lastId()) + 1;
      let isOver = false;

      async function keepAsking(kind: string, work: () => Promise<Answer>, isGood = ({ status }: Answer) => status === 200) {
        while (!isOver) {
          const answer = await work().catch((error: Error) => error);
          counts[kind] = (counts[kind] ?? 0) + 1;
          if (answer instanceof Error) failures.push(`${kind}: ${answer.message}`);
          else if (!isGood(answer)) failures.push(`${kind}: ${answer.status} ${answer.text.slice(0, 200)}`);
          await delay(20);
        }
      }
      async function buy(): Promise<Answer> {
        const path = '/oracle?horizon=7d';
        const unpaid = await ask({ path });
        if (unpaid.status !== 402) return unpaid;
        const required = JSON.parse(Buffer.from(String(unpaid.headers['payment-required']), 'base64').toString());
        const payment = Buffer.from(JSON.stringify(await buyer.pay(required))).toString('base64');
        return ask({ path, headers: { 'payment-signature': payment } });
      }
      let events = 0;
      async function keepPublishing() {
        while (!isOver) {
          const at = new Date();
          const content = { date: at.toISOString().slice(0, 10), from: 'CHOP', to: 'BULL_TREND', at, replayed: false } as const;
          const key = `regime.changed:${name}-${events}`;
          await service.push.events.append([{ key, type: 'regime.changed', at, horizonDays: null, wallet: null, content }], at);
          events += 1;
          await delay(EVENT_EVERY_MS);
        }
      }

      const webhook = await ask(
        { method: 'POST', path: '/api/svc/webhooks/register', headers: await asTier(service, 'basic') },
        { url: `${receiver.url}/${name}`, events: ['regime.changed'] },
      );
      expect(webhook.status, webhook.text).toBeLessThan(300);
      const follower = follow({ since: firstId - 1, token: await loginToken(service, 'basic'), proxy });
      const work = [
        keepAsking('signal', () => ask({ path: '/api/svc/open/signal' })),
        keepAsking('scorecard', () => ask({ path: '/api/svc/scorecard' })),
        keepAsking('card', () => ask({ path: '/.well-known/agent-card.json' })),
        keepAsking('mcp', callTool),
        keepAsking('payment', buy),
        keepPublishing(),
      ];
      await restartAll();
      isOver = true;
      await Promise.all(work);

      const lastId = await service.push.events.lastId();
      const ids = Array.from({ length: lastId - firstId + 1 }, (_, index) => firstId + index);
      await vi.waitFor(() => expect(follower.ids.at(-1)).toBe(lastId), { timeout: 30_000 });
      await follower.stop();
      expect(follower.ids).toEqual(ids);
      const delivered = () => receiver.received.filter(({ path }) => path === `/${name}`).map(({ body }) => JSON.parse(body).id as number);
      await vi.waitFor(() => expect(new Set(delivered()).size).toBe(ids.length), { timeout: 60_000, interval: 250 });
      const spent = await buyer.money();
      process.stdout.write(
        `${name}: ${JSON.stringify(counts)} requests, ${failures.length} failed; ${ids.length} events, ${follower.connections} connections\n`,
      );
      expect(failures).toEqual([]);
      expect(before.buyer - spent.buyer).toBe(BigInt(counts.payment!) * PRICE_MICROS);
      expect(spent.payments - before.payments).toBe(counts.payment);
    });
  });
});

interface Follower {
  ids: number[];
  connections: number;
  stop(): Promise<void>;
}

/** A subscriber that connects again after the last event that it has. */
function follow({ since, token, proxy }: { since: number; token: string; proxy: RunningProxy }): Follower {
  const follower: Follower = { ids: [], connections: 0, stop };
  let isOver = false;
  let socket: WebSocket;
  const running = run();
  async function run(): Promise<void> {
    while (!isOver) {
      const url = `wss://127.0.0.1:${proxy.port}/ws/signal?since=${follower.ids.at(-1) ?? since}`;
      const headers = { host: PROXY_HOST, authorization: `Bearer ${token}` };
      socket = new WebSocket(url, [], { servername: PROXY_HOST, rejectUnauthorized: false, headers } as ClientOptions);
      socket.on('open', () => {
        follower.connections += 1;
      });
      socket.on('message', (data) => {
        const { id } = JSON.parse(String(data));
        if (id !== undefined) follower.ids.push(id);
      });
      socket.on('error', () => undefined);
      await new Promise((closed) => socket.once('close', closed));
      await delay(100);
    }
  }
  async function stop(): Promise<void> {
    isOver = true;
    socket.terminate();
    await running;
  }
  return follower;
}
