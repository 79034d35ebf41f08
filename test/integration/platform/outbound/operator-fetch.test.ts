import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOperatorFetch, type FetchTarget, ResponseTooLargeError } from '../../../../src/platform/outbound/operator.ts';

interface Host {
  url: string;
  /** Connections that were opened. */
  connections(): number;
}

async function host(listener: RequestListener): Promise<Host> {
  let connections = 0;
  const server = createServer(listener).on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

const fetchAt = (base: string, limits: Partial<FetchTarget> = {}) =>
  createOperatorFetch({ base, timeoutMs: 5_000, maxBytes: 1_000, ...limits });

describe('a request to a configured server', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    const { url } = await host(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(418, { 'x-answer': 'yes' }).end(`${request.method} ${request.url} ${request.headers['x-test']} ${body}`);
    });
    const answer = await fetchAt(url)(`${url}/a?b=c`, { method: 'POST', headers: { 'x-test': 'sent' }, body: 'äö' });
    expect([answer.status, answer.ok, answer.headers.get('x-answer')]).toEqual([418, false, 'yes']);
    expect(await answer.text()).toBe('POST /a?b=c sent äö');
  });

  it('keeps its connection for the next request', async () => {
    const { url, connections } = await host((_, response) => response.end('x'));
    const send = fetchAt(url);
    for (let i = 0; i < 3; i += 1) await (await send(url)).text();
    expect(connections()).toBe(1);
  });

  it('sends nothing again when the server closes the kept connection in that moment', async () => {
    let asked = 0;
    const { url } = await host((request, response) => {
      asked += 1;
      if (asked % 2 === 0) request.socket.resetAndDestroy();
      else response.end('x');
    });
    const send = fetchAt(url);
    await (await send(url)).text();
    await expect(send(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(asked).toBe(2);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('decodes %s', async (encoding, compress) => {
    const { url } = await host((_, response) => response.setHeader('content-encoding', encoding).end(compress('plain')));
    expect(await (await fetchAt(url)(url)).text()).toBe('plain');
  });

  it('has no body where the status has none', async () => {
    const { url } = await host((_, response) => response.writeHead(204).end());
    const answer = await fetchAt(url)(url);
    expect([answer.status, answer.body]).toEqual([204, null]);
  });
});

describe('a request to a configured server is bounded', () => {
  it('follows no redirect', async () => {
    let reached = 0;
    const other = await host((_, response) => {
      reached += 1;
      response.end('secret');
    });
    const { url } = await host((_, response) => response.writeHead(307, { location: other.url }).end());
    const answer = await fetchAt(url)(url);
    expect([answer.status, await answer.text(), reached]).toEqual([307, '', 0]);
  });

  it.each(['http://127.0.0.1:1/', 'https://127.0.0.1/', 'http://localhost/'])('sends nothing to another origin: %s', async (other) => {
    const { url } = await host((_, response) => response.end());
    await expect(fetchAt(url)(other)).rejects.toThrow('leaves the configured origin');
  });

  it('is not led to another host by what is appended to the base', async () => {
    const { url } = await host((_, response) => response.end());
    await expect(fetchAt(url)(`${url}@127.0.0.1:1/`)).rejects.toThrow('leaves the configured origin');
  });

  const ENDLESS: [string, (response: ServerResponse) => unknown][] = [
    ['an answer', (response) => response.end('x'.repeat(1_001))],
    ['a compressed answer', (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(10_000_000)))],
  ];
  it.each(ENDLESS)('reads %s no further than the limit', async (_, answer) => {
    const { url } = await host((_request, response) => answer(response));
    const reading = (await fetchAt(url)(url)).text();
    await expect(reading).rejects.toBeInstanceOf(ResponseTooLargeError);
  });

  it('ends at the time limit before the headers', async () => {
    const { url } = await host(() => undefined);
    await expect(fetchAt(url, { timeoutMs: 50 })(url)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends at the time limit within the body', async () => {
    const { url } = await host((_, response) => void response.write('x'));
    const answer = await fetchAt(url, { timeoutMs: 100 })(url);
    await expect(answer.text()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends its connection when the body is cancelled while data arrives', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await host((_, response) => {
      response.on('close', closed.resolve);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    });
    const answer = await fetchAt(url, { maxBytes: 1_000_000_000 })(url);
    const reader = answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    await closed.promise;
  });

  it('ends at the time limit while the body is not read', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await host((_, response) => void response.on('close', closed.resolve).write('x'));
    await fetchAt(url, { timeoutMs: 50 })(url);
    await closed.promise;
  });

  it('ends with its signal, before and after it was sent', async () => {
    const { url } = await host(() => undefined);
    await expect(fetchAt(url)(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    const ending = new AbortController();
    const asked = fetchAt(url)(url, { signal: ending.signal });
    ending.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('rejects with the code of the socket where nothing listens', async () => {
    await expect(fetchAt('http://127.0.0.1:1')('http://127.0.0.1:1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
