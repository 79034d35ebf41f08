import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMcpEndpoint, encodeHeaderValue, type McpEndpointOptions, relayMcp } from '../../../../../src/cli/svc/commands/mcp.ts';

type Answer = (request: { headers: IncomingMessage['headers']; body: ReturnType<typeof JSON.parse> }, response: ServerResponse) => void;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on loopback whose POSTs to /mcp are answered by a function. */
async function serveMcp(answer: Answer, port = 0): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    answer({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) }, response);
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}) =>
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

function openRelay(url: string, options: Partial<McpEndpointOptions> = {}) {
  const input = new PassThrough();
  const answers: ReturnType<typeof JSON.parse>[] = [];
  const onNotice = vi.fn();
  const stop = new AbortController();
  const endpoint = createMcpEndpoint({
    url,
    getToken: async () => undefined,
    forgetToken: async () => false,
    onNotice,
    handshakeWaitsMs: [],
    ...options,
  });
  const output = { write: (text: string) => answers.push(JSON.parse(text)) };
  const ended = relayMcp({ input, output, endpoint, signal: stop.signal, onNotice });
  return {
    answers,
    onNotice,
    stop,
    ended,
    send: (...lines: unknown[]) => input.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')),
    end: () => {
      input.end();
      return ended;
    },
  };
}

const request = (id: number | string, method: string, params: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', id, method, params });
const result = (id: unknown, value: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', id, result: value });

describe('the headers of a request', () => {
  it('name the negotiated revision after initialize, and nothing before', async () => {
    const seen: unknown[] = [];
    const url = await serveMcp(({ headers, body }, response) => {
      seen.push(headers['mcp-protocol-version']);
      json(response, result(body.id, body.method === 'initialize' ? { protocolVersion: '2025-06-18' } : {}));
    });
    const relay = openRelay(url);
    relay.send(request(1, 'initialize'));
    await vi.waitFor(() => expect(relay.answers).toHaveLength(1));
    relay.send(request(2, 'tools/list'));
    await relay.end();
    expect(seen).toEqual([undefined, '2025-06-18']);
  });

  it('repeat revision, method and name of a message that names its revision', async () => {
    let seen: IncomingMessage['headers'] = {};
    const url = await serveMcp(({ headers, body }, response) => {
      seen = headers;
      json(response, result(body.id));
    });
    const relay = openRelay(url);
    relay.send(request(1, 'resources/read', { uri: 'oracle://é', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }));
    await relay.end();
    expect(seen).toMatchObject({
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read' },
      'mcp-name': `=?base64?${Buffer.from('oracle://é').toString('base64')}?=`,
    });
  });

  it.each([
    ['get_x', 'get_x'],
    ['a b', 'a b'],
    [' a', '=?base64?IGE=?='],
    ['', '=?base64??='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  ])('encode %j as %j', (text, encoded) => expect(encodeHeaderValue(text)).toBe(encoded));
});

describe('answers', () => {
  it('as events are relayed one by one, however they are cut', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { text: 'ü\u2028' } };
    const url = await serveMcp(({ body }, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const bytes = Buffer.from(
        `: hello\r\n\r\ndata: ${JSON.stringify(progress)}\r\n\r\nid: 1\ndata: ${JSON.stringify(result(body.id))}\n\n`,
      );
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });
    const relay = openRelay(url);
    relay.send(request('a', 'tools/call'));
    await relay.end();
    expect(relay.answers).toEqual([progress, result('a')]);
  });

  it.each<[string, Answer, Record<string, unknown>]>([
    [
      'a stream without result',
      (_, response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(': x\n\n'),
      { code: 'SERVICE_UNREACHABLE' },
    ],
    ['a page', (_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>'), { code: 'CONFIG_INVALID' }],
    ['a redirect', (_, response) => response.writeHead(302, { Location: 'http://127.0.0.1:9/' }).end(), { code: 'CONFIG_INVALID' }],
    ['a failed proxy', (_, response) => response.writeHead(502).end('bad gateway'), { code: 'SERVICE_UNREACHABLE', retryable: true }],
    ['a closed connection', (_, response) => response.destroy(), { code: 'SERVICE_UNREACHABLE', retryable: true }],
  ])('become an error with the id of the request: %s', async (_, answer, data) => {
    const relay = openRelay(await serveMcp(answer));
    relay.send(request(3, 'tools/list'));
    await relay.end();
    expect(relay.answers).toEqual([
      { jsonrpc: '2.0', id: 3, error: expect.objectContaining({ code: -32_000, data: expect.objectContaining(data) }) },
    ]);
  });

  it('keep the JSON-RPC error of the service, under the id of the request', async () => {
    const error = { code: -32_600, message: 'too large' };
    const relay = openRelay(await serveMcp((_, response) => json(response, { jsonrpc: '2.0', id: null, error }, 413)));
    relay.send(request(4, 'tools/list'));
    await relay.end();
    expect(relay.answers).toEqual([{ jsonrpc: '2.0', id: 4, error }]);
  });

  it('to lines that are no messages are protocol errors', async () => {
    const relay = openRelay('http://127.0.0.1:9');
    relay.send('hello', '', '[]', '{"id":1}');
    await relay.end();
    expect(relay.answers.map(({ id, error }) => [id, error.code])).toEqual([
      [null, -32_700],
      [null, -32_600],
      [null, -32_600],
    ]);
  });
});

it('closes the request that the client cancels, and writes no answer to it', async () => {
  const closed = vi.fn();
  const url = await serveMcp(({ body }, response) => {
    response.on('close', () => closed(body.id, response.writableFinished));
    if (body.id === 2) json(response, result(2));
  });
  const relay = openRelay(url);
  relay.send(request(1, 'tools/call'), request(2, 'tools/call'));
  await vi.waitFor(() => expect(closed).toHaveBeenCalledWith(2, true));
  relay.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await vi.waitFor(() => expect(closed).toHaveBeenCalledWith(1, false));
  await relay.end();
  expect(relay.answers).toEqual([result(2)]);
});

it('ends with its input although a subscription is open, and with its signal although a call is', async () => {
  const relays = [openRelay(await serveMcp(() => {})), openRelay(await serveMcp(() => {}))];
  relays[0]!.send(request(1, 'subscriptions/listen'));
  await relays[0]!.end();
  relays[1]!.send(request(1, 'tools/call'));
  relays[1]!.stop.abort();
  await relays[1]!.ended;
  expect(relays.flatMap(({ answers }) => answers)).toEqual([]);
});

it('sends a call again with another token when the service rejects the first one', async () => {
  const seen: unknown[] = [];
  const url = await serveMcp(({ headers, body }, response) => {
    seen.push(headers.authorization);
    const rejected = seen.length === 1 ? { 'WWW-Authenticate': 'Bearer error="invalid_token"' } : {};
    json(response, result(body.id, { served: seen.length }), 200, rejected);
  });
  const tokens = ['old', 'new', 'newer'];
  const relay = openRelay(url, { getToken: async () => tokens[0], forgetToken: async () => tokens.shift() !== undefined });
  relay.send(request(1, 'tools/call'));
  await relay.end();
  expect([seen, relay.answers]).toEqual([['Bearer old', 'Bearer new'], [result(1, { served: 2 })]]);
});

it('waits for a service that starts after the client, and says so', async () => {
  const url = await serveMcp(() => {});
  servers.pop()!.close();
  const relay = openRelay(url, { handshakeWaitsMs: [1, 1, 5_000] });
  relay.send(request(1, 'initialize'));
  await vi.waitFor(() => expect(relay.onNotice.mock.calls.at(-1)?.[0]).toMatch(/does not answer; again in 5 s/));
  relay.stop.abort();
  await relay.ended;
  const later = openRelay(url, { handshakeWaitsMs: Array.from({ length: 500 }, () => 10) });
  later.send(request(1, 'initialize'));
  await vi.waitFor(() => expect(later.onNotice).toHaveBeenCalled());
  await serveMcp(({ body }, response) => json(response, result(body.id)), Number(new URL(url).port));
  await later.end();
  expect(later.answers).toEqual([result(1)]);
});

it('reports a notification that did not arrive on standard error alone', async () => {
  const relay = openRelay('http://127.0.0.1:9');
  relay.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await relay.end();
  expect(relay.answers).toEqual([]);
  expect(relay.onNotice).toHaveBeenCalledWith(expect.stringContaining('http://127.0.0.1:9 does not answer'));
});
