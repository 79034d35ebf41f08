import { describe, expect, it, vi } from 'vitest';
import type { RequestContext } from '../../../../src/auth/auth.ts';
import { PUBLIC_CALLER } from '../../../../src/auth/caller.ts';
import type { RateLimiter, RateLimits } from '../../../../src/auth/rate-limits.ts';
import { OracleError } from '../../../../src/errors.ts';
import { createApp } from '../../../../src/http/server.ts';
import type { McpBackend } from '../../../../src/mcp/protocol.ts';
import { createMcpAdapter, createOriginCheck, type McpAdapterOptions } from '../../../../src/mcp/server.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { serveApp } from '../../../support/http/serve.ts';
import { MCP_HEADERS, postMcp, rpc } from '../../../support/mcp/mcp.ts';

/** A backend that fails with a secret in its error. */
const BROKEN: McpBackend = {
  run: () => Promise.reject(new Error('password of the database')),
};

/** The adapter without a service. */
function open(options: Partial<McpAdapterOptions> = {}, limits?: RateLimits) {
  const door = createMcpAdapter({
    ...{ version: '1', publicUrl: 'https://oracle.example.org/base', backendFor: () => BROKEN, checkOrigin: () => undefined },
    payments: 'off',
    ...options,
  });
  const log = createLog({ level: 'silent', secrets: [] });
  return serveApp(createApp([], { log, identify: async () => PUBLIC_CALLER, ...(limits === undefined ? {} : { limits }) }, [door]));
}

describe('an internal error', () => {
  it.each([
    ['tool', rpc('tools/call', { name: 'get_market_context' })],
    ['resource', rpc('resources/read', { uri: 'oracle://signal/7d' })],
    ['list', rpc('resources/list')],
    [
      'completion',
      rpc('completion/complete', { ref: { type: 'ref/prompt', name: 'check_prediction' }, argument: { name: 'date', value: '' } }),
    ],
  ])('is logged and not sent: %s', async (what, request) => {
    const onError = vi.fn();
    const { url, close } = await open({ onError });
    const { text, messages, headers } = await postMcp(url, request);
    expect(text).not.toContain('password');
    const received = what === 'tool' ? messages[0].result._meta['bitcoin-signal-oracle/error'] : messages[0].error.data;
    expect(received).toMatchObject({ code: 'INTERNAL', retryable: false });
    expect(onError.mock.calls).toEqual([[expect.objectContaining({ message: 'password of the database' }), headers.get('x-request-id')]]);
    await close();
  });

  it('during server construction returns -32603 with the id of the request', async () => {
    const onRefused = vi.fn();
    const { url, close } = await open({
      onRejected: onRefused,
      backendFor: () => {
        throw new Error('password of the database');
      },
    });
    const { status, messages, text } = await postMcp(url, rpc('ping', {}, 'mine'));
    expect([status, messages[0].error.code, messages[0].id]).toEqual([500, -32_603, 'mine']);
    expect(text).not.toContain('password');
    expect(onRefused).toHaveBeenCalledTimes(1);
    await close();
  });
});

describe('the instructions', () => {
  it('are short, and name a price only where one can be paid', async () => {
    const hello = rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
    const instructionsWith = async (payments: McpAdapterOptions['payments']) => {
      const { url, close } = await open({ payments });
      const { instructions } = (await postMcp(url, hello)).messages[0].result;
      await close();
      return instructions as string;
    };
    const [paid, unpaid] = [await instructionsWith('call'), await instructionsWith('off')];
    expect(paid).toContain('pay 0.001 USD for one answer by x402');
    expect(unpaid).not.toMatch(/pay|x402|free|0\.001/);
    for (const text of [paid, unpaid]) expect(text.split(/\s+/).length).toBeLessThan(190);
  });
});

describe('allowed pages', () => {
  it('pass the origin check, and others do not', async () => {
    const checkOrigin = createOriginCheck({ publicUrl: 'http://127.0.0.1', allowedOrigins: ['app.example.org'], allowLoopback: false });
    const { url, close } = await open({ checkOrigin });
    const statusFrom = async (origin: string) => (await postMcp(url, rpc('ping'), { Origin: origin })).status;
    expect(await statusFrom('https://app.example.org')).toBe(200);
    expect(await statusFrom('https://app.example.org.evil.example')).toBe(403);
    expect(await statusFrom('http://localhost:3000')).toBe(403);
    await close();
  });

  it('get the same preflight answer as on other paths', async () => {
    const { url, close } = await open();
    const headers = {
      Origin: 'https://app.example.org',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'mcp-method',
    };
    const { status, headers: answered } = await fetch(`${url}/mcp`, { method: 'OPTIONS', headers });
    expect(status).toBe(204);
    expect(answered.get('access-control-allow-headers')).toContain('Mcp-Method');
    await close();
  });
});

describe('a call that reads the chain', () => {
  it('is metered after the head of a streamed answer was sent', async () => {
    const { promise: headIsThere, resolve: release } = Promise.withResolvers<void>();
    const limiter = (policy: keyof RateLimits, ready?: Promise<void>): RateLimiter => ({
      take: async () => {
        await ready;
        return { policy, allowed: true, scope: 'client', limit: 10, windowSeconds: 60, remaining: 9, resetSeconds: 60 };
      },
      takeLeased: () => null,
      getRejection: () => null,
    });
    const limits = {
      public: limiter('public'),
      wallet: limiter('wallet'),
      rpc: limiter('rpc', headIsThere),
      failures: limiter('failures'),
      tasks: limiter('tasks'),
      payer: limiter('payer'),
      payments: limiter('payments'),
    };
    const backendFor = (context: RequestContext): McpBackend => ({
      ...BROKEN,
      run: async () => {
        await context.countChainCall();
        throw new OracleError('NOT_FOUND', 'There is none');
      },
    });
    const { url, close } = await open({ backendFor, keepAliveMs: 20 }, limits);
    const body = JSON.stringify(rpc('tools/call', { name: 'verify_prediction' }));
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers: MCP_HEADERS, body });
    expect(response.headers.get('ratelimit-policy')).toBe('"public";q=10;w=60');
    release();
    expect(await response.text()).toContain('NOT_FOUND');
    await close();
  });
});
