import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { generatePrivateKey } from 'viem/accounts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createLocalService } from '../../../../src/cli/mcp.ts';
import { probeService } from '../../../../src/cli/script.ts';
import { buildDemoFile, createDemoTokenCache } from '../../../../src/dev/demo.ts';
import { ERROR_CODES, OracleError } from '../../../../src/errors.ts';
import { toProblemDetails } from '../../../../src/http/problems.ts';
import { createRemoteBackend } from '../../../../src/mcp/stdio.ts';
import { parseProblemDetails } from '../../../../src/platform/service-client.ts';
import { inSpan, parseTraceparent } from '../../../../src/platform/tracing.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import publicSignal from './fixtures/public-signal.json' with { type: 'json' };

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

/** An HTTP server on this machine. */
async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((listening) => server.once('listening', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sending =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);

const refusalOf = (work: Promise<unknown>): Promise<OracleError> =>
  work.then(
    () => expect.unreachable('it should have been refused'),
    (error: unknown) => error as OracleError,
  );

const asked = (url: string, options: Partial<Parameters<typeof createRemoteBackend>[0]> = {}) =>
  refusalOf(createRemoteBackend({ url, ...options }).run('get_track_record', {}));

describe('an error of the service', () => {
  it.each([
    new OracleError('INPUT_INVALID', 'query parameter "x": must be y', { field: 'x' }),
    new OracleError('RATE_LIMITED', 'Too many', { retryAfterSeconds: 30, details: { limit: 60, scope: 'address' } }),
    new OracleError('CHAIN_UNREACHABLE', 'The chain did not answer', { retryAfterSeconds: 5 }),
    new OracleError('STEP_WAITING', 'There is no forecast yet', { suggestedAction: 'Wait for 21:35 UTC.' }),
    new OracleError('TIER_REQUIRED', 'This needs the basic tier', {
      details: { balance: '0', required: '500000000', ok: false, no: null },
    }),
  ])('keeps its code: $code', async (error) => {
    const problem = toProblemDetails(error, '/api/svc/skills/get_track_record');
    const retryAfter: Record<string, string> = problem.retryable ? { 'Retry-After': String(error.retryAfterSeconds ?? 30) } : {};
    const received = await asked(await answering(sending(problem.status, JSON.stringify(problem), retryAfter)));
    const { code, message, field, retryAfterSeconds, details, retryable } = error;
    expect(received).toMatchObject({ code, message, field, retryAfterSeconds, details, retryable });
    expect(received.suggestedAction).toBe(problem.suggestedAction);
  });

  it('of an unknown code keeps its message and is not retryable', async () => {
    const problem = { success: false, code: 'MOON_MISSING', detail: 'No moon', retryable: true };
    expect(await asked(await answering(sending(503, JSON.stringify(problem))))).toMatchObject({
      code: 'INTERNAL',
      message: 'MOON_MISSING: No moon',
      retryable: false,
    });
  });

  it('is bounded and typed, whatever the service sends', () => {
    const anything = fc.oneof(fc.jsonValue(), fc.record({ code: fc.jsonValue(), detail: fc.jsonValue(), more: fc.jsonValue() }));
    const wordy = fc.record({
      code: fc.constantFrom('NOT_FOUND', 'toString', '__proto__', 'x'.repeat(5_000)),
      detail: fc.string({ maxLength: 9_000 }),
    });
    fc.assert(
      fc.property(fc.oneof(anything, wordy), fc.option(fc.string()), (body, retryAfter) => {
        const error = parseProblemDetails(body, retryAfter);
        if (error === undefined) return;
        expect(Object.keys(ERROR_CODES)).toContain(error.code);
        expect(error.message.length).toBeLessThan(4_100);
        expect(JSON.stringify(error.details ?? {}).length).toBeLessThan(100_000);
      }),
    );
  });
});

it('sends the trace of its message to the service', async () => {
  const sent = Promise.withResolvers<unknown>();
  const url = await answering((request, response) => {
    sent.resolve(request.headers.traceparent);
    sending(503, '{}')(request, response);
  });
  const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
  await inSpan({ name: 'tools/call', parent }, () => asked(url));
  expect(parseTraceparent(await sent.promise)).toMatchObject({ traceId: parent.traceId, isSampled: true });
});

describe('another server', () => {
  it.each([
    ['a page', sending(404, '<html>'), 'CONFIG_INVALID'],
    ['a page that is found', sending(200, '<html>'), 'CONFIG_INVALID'],
    ['a gateway without it', sending(502, 'Bad Gateway'), 'SERVICE_UNREACHABLE'],
    ['more than it ever says', sending(200, `"${'x'.repeat(5_000_000)}"`), 'CONFIG_INVALID'],
    ['an answer of another form', sending(200, '{"success":true,"output":{},"text":"?"}'), 'INTERNAL'],
    [
      'an answer that breaks off',
      (_: IncomingMessage, response) => void response.writeHead(200, { 'Content-Length': '9' }).write('{', () => response.destroy()),
      'SERVICE_UNREACHABLE',
    ],
  ] as [string, RequestListener, string][])('is reported as such: %s', async (_, listener, code) => {
    const url = await answering(listener);
    const received = await asked(url);
    expect(received.code).toBe(code);
    expect(received.message).toContain(url);
    expect(received.message.length).toBeLessThan(300);
  });

  it('is aborted after the time limit of a call', async () => {
    const url = await answering(() => {});
    expect(await asked(url, { deadlineMs: 50 })).toMatchObject({
      code: 'SERVICE_UNREACHABLE',
      message: expect.stringContaining('did not answer within'),
    });
  });

  it('does not get the token by a redirect', async () => {
    const seen: (string | undefined)[] = [];
    const thief = await answering((request, response) => {
      seen.push(request.headers.authorization);
      response.end('{}');
    });
    const url = await answering(sending(307, '', { Location: `${thief}/api/svc/skills/get_track_record` }));
    expect(await asked(url, { token: async () => 'secret-token' })).toMatchObject({ code: 'CONFIG_INVALID', field: 'url' });
    expect(seen).toEqual([]);
  });
});

describe('a request', () => {
  it('goes below the path of the base URL, with the token, as JSON', async () => {
    const seen: object[] = [];
    const url = await answering(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method, url: path, headers } = request;
      seen.push({ method, path, authorization: headers.authorization, body: Buffer.concat(chunks).toString() });
      sending(404, '{"code":"NOT_FOUND","detail":"no"}')(request, response as never);
    });
    await asked(`${url}/base/`, { token: async () => 'a.b.c' });
    await refusalOf(createRemoteBackend({ url: `${url}/base` }).run('predict_btc_direction', { horizon: '3d', detail: 'public' }));
    expect(seen).toEqual([
      { method: 'POST', path: '/base/api/svc/skills/get_track_record', authorization: 'Bearer a.b.c', body: '{}' },
      {
        ...{ method: 'POST', path: '/base/api/svc/skills/predict_btc_direction', authorization: undefined },
        body: '{"horizon":"3d","detail":"public"}',
      },
    ]);
  });

  it('is repeated once with another token after a rejection', async () => {
    const seen: (string | undefined)[] = [];
    const url = await answering((request, response) => {
      seen.push(request.headers.authorization);
      sending(401, '{"code":"UNAUTHENTICATED","detail":"expired"}')(request, response as never);
    });
    let issued = 0;
    const token = async () => `token-${++issued}`;
    expect(await asked(url, { token, forgetToken: () => true })).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(seen).toEqual(['Bearer token-1', 'Bearer token-2']);
    await asked(url, { token });
    expect(seen).toHaveLength(3);
  });
});

describe('a public answer to a rejected token', () => {
  it('is requested again with another token, and returned unchanged without one', async () => {
    const seen: (string | undefined)[] = [];
    const challenge = { 'WWW-Authenticate': 'Bearer realm="oracle", error="invalid_token"' };
    const url = await answering((request, response) => {
      seen.push(request.headers.authorization);
      sending(200, JSON.stringify({ output: { ...publicSignal, btcPrice: seen.length }, text: '' }), challenge)(request, response as never);
    });
    const token = async () => `token-${seen.length}`;
    const ask = (options: object) => createRemoteBackend({ url, token, ...options }).run('predict_btc_direction', { detail: 'public' });
    expect(await ask({})).toMatchObject({ output: { btcPrice: 1 } });
    expect(await ask({ forgetToken: () => true })).toMatchObject({ output: { btcPrice: 3 } });
    expect(seen).toEqual(['Bearer token-0', 'Bearer token-1', 'Bearer token-2']);
  });
});

describe('the token of a demonstration wallet', () => {
  const WALLETS = ['attester', 'reporter', 'basic', 'premium', 'poor', 'buyer'] as const;

  const sessionOf = (token: string) => ({
    ...{ token, tier: 'basic', wallet: `0x${'0'.repeat(40)}` },
    ...{ expires_in: 1_800, expiresAt: '2026-01-01T00:30:00.000Z' },
  });

  async function demoFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'oracle-demo-'));
    onTestFinished(() => removeFolder(folder));
    const keys = Object.fromEntries(WALLETS.map((name) => [name, generatePrivateKey()])) as never;
    const zero = `0x${'0'.repeat(40)}`;
    const names = ['eas', 'schemaRegistry', 'gateToken', 'stablecoin', 'identityRegistry', 'reputationRegistry'];
    const contracts = Object.fromEntries(names.map((name) => [name, zero])) as never;
    await writeFile(
      join(folder, 'demo.json'),
      JSON.stringify(buildDemoFile({ rpcUrl: 'http://127.0.0.1:1', chainId: 1, contracts, keys })),
    );
    return folder;
  }

  it('is shared by concurrent calls, and renewed before expiry and after a rejection', async () => {
    let logins = 0;
    const url = await answering((request, response) => {
      logins += 1;
      sending(200, JSON.stringify(sessionOf(`token-${logins}`)))(request, response as never);
    });
    let nowMs = 0;
    const demo = createDemoTokenCache({ wallet: 'basic', dataDir: await demoFolder(), url, now: () => nowMs });
    expect(await Promise.all([demo.getToken(), demo.getToken(), demo.getToken()])).toEqual(['token-1', 'token-1', 'token-1']);
    nowMs = 1_600_000;
    expect(await demo.getToken()).toBe('token-1');
    nowMs = 1_700_000;
    expect(await Promise.all([demo.getToken(), demo.getToken()])).toEqual(['token-2', 'token-2']);
    demo.forget();
    expect(await demo.getToken()).toBe('token-3');
  });

  it('is requested again after a failure', async () => {
    let answers = 0;
    const url = await answering((request, response) => {
      answers += 1;
      const isUp = answers > 1;
      const body = isUp ? sessionOf('token') : { code: 'STEP_WAITING', detail: 'The service is starting' };
      sending(isUp ? 200 : 503, JSON.stringify(body))(request, response as never);
    });
    const demo = createDemoTokenCache({ wallet: 'basic', dataDir: await demoFolder(), url, now: () => 0 });
    expect(await refusalOf(demo.getToken())).toMatchObject({ message: expect.stringContaining('The service is starting') });
    expect(await demo.getToken()).toBe('token');
  });
});

describe('the service of this machine', () => {
  const kept = (url: string, patienceMs = 10_000) =>
    createLocalService({ url, probe: probeService, maxWaitMs: patienceMs, writeNotice: () => {} });
  const readiness = (setup: object) => JSON.stringify({ ready: false, checks: [{ name: 'price', ok: false, detail: 'stale' }, setup] });

  it('is used as soon as it is configured, whatever else it lacks', async () => {
    const url = await answering(sending(503, readiness({ name: 'setup', ok: true })));
    await kept(url).ready();
  });

  it('is awaited during setup, with the progress in the error', async () => {
    let ready = false;
    const url = await answering((request, response) =>
      sending(503, readiness({ name: 'setup', ok: ready, detail: 'replaying days of history: 3 of 16' }))(request, response as never),
    );
    const service = kept(url, 400);
    expect(await refusalOf(service.ready())).toMatchObject({
      code: 'STEP_WAITING',
      retryAfterSeconds: 10,
      message: expect.stringContaining('replaying days of history: 3 of 16'),
    });
    ready = true;
    await service.ready();
    await service.stop();
    expect(await refusalOf(service.ready())).toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('is not confused with another server, and not started where it must not be', async () => {
    expect(await refusalOf(kept(await answering(sending(200, '<html>'))).ready())).toMatchObject({ code: 'CONFIG_INVALID', field: 'PORT' });
    const url = await answering(() => {});
    await new Promise((closed) => servers.pop()!.close(closed));
    expect(await refusalOf(kept(url).ready())).toMatchObject({ code: 'SERVICE_UNREACHABLE', message: expect.stringContaining(url) });
  });
});
