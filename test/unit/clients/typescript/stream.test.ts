import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createOracleClient } from '../../../../clients/typescript/src/client.ts';
import { StreamEnded } from '../../../../clients/typescript/src/errors.ts';
import { listening } from '../../../support/webhooks/receiver.ts';

const AT = '2026-11-20T12:00:00.000Z';
const event = (id: number) => ({ id, type: 'regime.changed', timestamp: AT, data: { to: 'CHOP' } });
const CONNECTED = { type: 'connected', timestamp: AT, data: { lastEventId: 4 } };

/** A service with logins, tickets and a WebSocket. The session of login n lasts `seconds[n]`, the last one for ever. */
async function serve({
  seconds = [1_800],
  connect,
}: {
  seconds?: number[];
  connect?: (socket: WebSocket, query: URLSearchParams) => void;
}) {
  const seen = { logins: 0, tickets: [] as unknown[] };
  const server = createServer(async (request, response) => {
    if (request.url === '/api/svc/oracle/verify') {
      const { wallet } = (await json(request)) as { wallet: string };
      const expires_in = seconds[seen.logins] ?? seconds.at(-1);
      seen.logins += 1;
      response.end(JSON.stringify({ token: `token-${seen.logins}`, tier: 'basic', wallet, expiresAt: AT, expires_in }));
    } else {
      seen.tickets.push(request.headers.authorization);
      response.end(JSON.stringify({ ticket: `ticket-${seen.tickets.length}` }));
    }
  });
  new WebSocketServer({ server }).on('connection', (socket, { url }) => connect?.(socket, new URL(url!, 'ws://x').searchParams));
  const { port, close } = await listening(server);
  onTestFinished(close);
  return { seen, client: createOracleClient({ url: `http://127.0.0.1:${port}`, account: privateKeyToAccount(generatePrivateKey()) }) };
}

it('renews a session that ends within 90 seconds, once for concurrent callers', async () => {
  const { client, seen } = await serve({ seconds: [90, 1_800] });
  await Promise.all([client.session(), client.session()]);
  expect(seen.logins).toBe(1);
  await Promise.all([client.session(), client.session()]);
  await client.session();
  expect(seen.logins).toBe(2);
});

it('replaces the token of its connection when that is about to expire', async () => {
  const messages: unknown[] = [];
  const { client, seen } = await serve({
    seconds: [90, 1_800],
    connect: (socket) => {
      socket.on('message', (text) => {
        messages.push(JSON.parse(String(text)));
        socket.send(JSON.stringify(event(5)));
      });
      for (const message of [CONNECTED, { type: 'token.expiring', timestamp: AT, data: {} }]) socket.send(JSON.stringify(message));
    },
  });
  expect((await client.stream().next()).value?.id).toBe(5);
  expect(seen.tickets).toEqual(['Bearer token-1']);
  expect(messages).toEqual([{ type: 'authenticate', data: { token: 'token-2' } }]);
});

it('continues after the last event or the first connection, drops repetitions, and reports what is no longer kept', async () => {
  const since: (string | null)[] = [];
  const gaps: unknown[] = [];
  const replies = [
    [CONNECTED],
    [CONNECTED, event(5), event(6)],
    [{ type: 'replay.gap', timestamp: AT, data: { from: 7, to: 8 } }, event(6), event(9)],
  ];
  const { client } = await serve({
    connect: (socket, query) => {
      since.push(query.get('since'));
      for (const message of replies[since.length - 1] ?? []) socket.send(JSON.stringify(message));
      socket.close(1001);
    },
  });
  const ids: number[] = [];
  for await (const { id } of client.stream({ reconnectMs: 1, onGap: (gap) => gaps.push(gap) })) {
    ids.push(id);
    if (id === 9) break;
  }
  expect(ids).toEqual([5, 6, 9]);
  expect(since).toEqual([null, '4', '6']);
  expect(gaps).toEqual([{ from: 7, to: 8 }]);
});

it.each([1008, 4003])('throws StreamEnded for the close code %d', async (code) => {
  const { client } = await serve({
    connect: (socket) => {
      socket.send(JSON.stringify(CONNECTED));
      socket.close(code, 'why');
    },
  });
  await expect(client.stream().next()).rejects.toThrow(StreamEnded);
});

it.each([
  [1013, 'later', 30_000, 'later'],
  [4001, '', 0, 'closed with 4001'],
])('waits after the close code %d as it asks for', async (code, reason, minWaitMs, said) => {
  const { client } = await serve({
    connect: (socket) => {
      socket.send(JSON.stringify(CONNECTED));
      socket.close(code, reason);
    },
  });
  const stopping = new AbortController();
  const lost: { reason: string; waitMs: number }[] = [];
  const onReconnect = (one: { reason: string; waitMs: number }) => {
    lost.push(one);
    stopping.abort();
  };
  expect((await client.stream({ signal: stopping.signal, onReconnect, reconnectMs: 10 }).next()).done).toBe(true);
  expect(lost).toEqual([{ reason: said, waitMs: expect.any(Number) }]);
  expect(lost[0].waitMs >= 30_000).toBe(minWaitMs === 30_000);
});

it('counts a server of other messages as a lost connection', async () => {
  const { client } = await serve({ connect: (socket) => socket.send('{"type":1}') });
  const stopping = new AbortController();
  const reasons: string[] = [];
  const onReconnect = ({ reason }: { reason: string }) => {
    reasons.push(reason);
    stopping.abort();
  };
  await client.stream({ signal: stopping.signal, onReconnect }).next();
  expect(reasons).toEqual(['the server sends no messages of this service']);
});
