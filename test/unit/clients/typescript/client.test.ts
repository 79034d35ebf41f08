import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createOracleClient } from '../../../../clients/typescript/src/client.ts';
import { ServiceProblem, TransportError } from '../../../../clients/typescript/src/errors.ts';
import { formatUsd, parseUsd } from '../../../../clients/typescript/src/http.ts';
import { listening } from '../../../support/webhooks/receiver.ts';

type Answer = { status?: number; headers?: Record<string, string>; body?: string };

async function serve(answer: (path: string, headers: Record<string, unknown>) => Answer) {
  const { port, close } = await listening(
    createServer((request, response) => {
      const { status = 200, headers = {}, body = '{}' } = answer(request.url!, request.headers);
      response.writeHead(status, headers).end(body);
    }),
  );
  onTestFinished(close);
  return `http://127.0.0.1:${port}`;
}

it('keeps the fields of a problem, and its members beside the standard', async () => {
  const problem = { type: 'urn:x', title: 'Conflict', status: 409, detail: 'd', code: 'NEW_CODE', retryable: true, nonce: 'used' };
  const url = await serve(() => ({ status: 409, headers: { 'Retry-After': '7' }, body: JSON.stringify(problem) }));
  const error = await createOracleClient({ url })
    .signal()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServiceProblem);
  expect(error).toMatchObject({
    status: 409,
    title: 'Conflict',
    detail: 'd',
    code: 'INTERNAL',
    retryable: true,
    retryAfterSeconds: 7,
    problem,
  });
});

it('describes an error page of a proxy by its status', async () => {
  const url = await serve(() => ({ status: 502, body: '<html>' }));
  await expect(createOracleClient({ url }).signal()).rejects.toMatchObject({ status: 502, retryable: false, message: /502/ });
});

it('follows no redirect, which could lead a key to another host', async () => {
  const seen: unknown[] = [];
  const other = await serve((_, headers) => {
    seen.push(headers.authorization);
    return {};
  });
  const url = await serve(() => ({ status: 302, headers: { Location: other } }));
  await expect(createOracleClient({ url, apiKey: 'bso_key' }).signal()).rejects.toThrow(TransportError);
  expect(seen).toEqual([]);
});

it('sends an API key with each request', async () => {
  const seen: unknown[] = [];
  const url = await serve((_, headers) => {
    seen.push(headers.authorization);
    return {};
  });
  await createOracleClient({ url: `${url}/`, apiKey: 'bso_key' }).signal();
  expect(seen).toEqual(['Bearer bso_key']);
});

it.each([
  ['a body beyond maxBytes', { maxBytes: 100 }, { body: JSON.stringify({ text: 'x'.repeat(100) }) }, 'more than 100 bytes'],
  ['a body that is no JSON', {}, { body: '<html>' }, 'not JSON'],
])('throws TransportError for %s', async (_, options, answer, message) => {
  const url = await serve(() => answer);
  const error = await createOracleClient({ url, ...options })
    .signal()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TransportError);
  expect(String(error)).toContain(message);
});

it('throws TransportError naming the request where nothing answers in time', async () => {
  const server = createServer(() => undefined);
  const { port, close } = await listening(server);
  onTestFinished(close);
  const client = createOracleClient({ url: `http://127.0.0.1:${port}`, timeoutMs: 20 });
  await expect(client.signal()).rejects.toMatchObject({
    code: 'SERVICE_UNREACHABLE',
    retryable: true,
    message: expect.stringMatching(/^GET \/api\/svc\/open\/signal at http:\/\/127.0.0.1:\d+ failed: /),
  });
});

it.each(['ftp://oracle.example.org', 'oracle.example.org', 'https://oracle.example.org/?a=1'])('rejects the address %s', (url) => {
  expect(() => createOracleClient({ url })).toThrow(/^url must be an http or https address/);
});

it.each(['', 'bso_ key', 'bso_\n'])('rejects the key %j without showing it', (apiKey) => {
  expect(() => createOracleClient({ url: 'https://oracle.example.org', apiKey })).toThrow(/^apiKey must be a key of the service, bso_ and/);
});

it.each([
  ['0.002', 2_000n],
  ['1', 1_000_000n],
  ['10.50', 10_500_000n],
  ['0.000001', 1n],
])('reads %s USD exactly', (text, micros) => {
  expect(parseUsd('maxUsd', text)).toBe(micros);
  expect(parseUsd('maxUsd', formatUsd(micros))).toBe(micros);
});
