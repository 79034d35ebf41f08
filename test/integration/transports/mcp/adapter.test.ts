import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRateLimits, createRequestCountStore } from '../../../../src/auth/rate-limits.ts';
import { createApp } from '../../../../src/http/server.ts';
import { asTier } from '../../../support/auth/login.ts';
import { openAsk } from '../../../support/http/ask.ts';
import { type Served, serve, serveApp } from '../../../support/http/serve.ts';
import { MCP_HEADERS, postMcp, replyOf, rpc } from '../../../support/mcp/mcp.ts';
import { type TestService, unresolvedService } from '../../../support/service/service.ts';

const PING = rpc('ping');
const NEWEST = '2026-07-28';
const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await unresolvedService(2);
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const call = (name: string) => rpc('tools/call', { name, arguments: {} });
const post = (body: unknown, headers?: Record<string, string>) => postMcp(served.url, body, headers);

/** A request of the newest revision. */
function newest(method: string, params = {}, revision = NEWEST): [Record<string, unknown>, Record<string, string>] {
  const prefix = 'io.modelcontextprotocol/';
  const _meta = {
    [`${prefix}protocolVersion`]: revision,
    [`${prefix}clientInfo`]: { name: 't', version: '1' },
    [`${prefix}clientCapabilities`]: {},
  };
  return [rpc(method, { ...params, _meta }), { 'MCP-Protocol-Version': revision, 'Mcp-Method': method }];
}

describe('protocol revisions', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('accepts %s', async (protocolVersion) => {
    const hello = rpc('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });
    const { status, messages } = await post(hello);
    expect(status).toBe(200);
    expect(messages[0].result).toMatchObject({ protocolVersion, serverInfo: { name: 'bitcoin-signal-oracle' } });
    const sent = { 'MCP-Protocol-Version': protocolVersion };
    expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, sent)).status).toBe(202);
    expect((await post(rpc('tools/list'), sent)).messages[0].result.tools).toHaveLength(4);
  });

  it('accepts the newest without a handshake', async () => {
    const { status, messages } = await post(...newest('server/discover'));
    expect(status).toBe(200);
    expect(messages[0].result.supportedVersions).toContain(NEWEST);
  });

  it('answers an unknown one with the supported ones', async () => {
    const hello = rpc('initialize', { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
    expect((await post(hello)).messages[0].result.protocolVersion).toBe('2025-11-25');
    const { status, messages } = await post(rpc('tools/list'), { 'MCP-Protocol-Version': '1999-01-01' });
    expect(status).toBe(400);
    expect(messages[0].error.message).toContain('1999-01-01');
  });

  it('ends a subscription at once, because the lists are static', async () => {
    const { status, messages } = await post(...newest('subscriptions/listen', { notifications: { toolsListChanged: true } }));
    expect(status).toBe(200);
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } });
  });

  it.each(['GET', 'DELETE', 'PUT'])('returns 405 to %s, because there are no sessions', async (method) => {
    const response = await fetch(`${served.url}/mcp`, { method, headers: { Accept: 'text/event-stream' } });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    const data = { code: 'METHOD_NOT_ALLOWED', suggestedAction: 'Send a POST.' };
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32_000, data } });
  });
});

describe('malformed parameters', () => {
  const CALLS: [string, Record<string, unknown>][] = [
    ['tools/call', { name: 7 }],
    ['tools/call', { name: 'get_track_record', arguments: 'all' }],
    ['resources/read', {}],
    ['resources/read', { uri: 7 }],
    ['prompts/get', { name: ['daily_briefing'] }],
    ['prompts/get', { name: 'daily_briefing', arguments: { horizon: 7 } }],
    ['completion/complete', { ref: { type: 'ref/prompt' } }],
    ['tools/list', { cursor: 7 }],
    ['skills/list', { cursor: 7 }],
    ['skills/list', { cursor: 'nowhere' }],
    ['skills/get', {}],
    ['skills/get', { uri: ['skill://bitcoin-signal-oracle/SKILL.md'] }],
    ['resources/directory/read', { uri: 'skill://nothing' }],
  ];

  it.each([...CALLS, ['initialize', { protocolVersion: 7 }] as [string, Record<string, unknown>]])(
    'of %s, %j, get -32602',
    async (method, params) => {
      const { messages } = await post(rpc(method, params));
      expect(messages[0].error.code).toBe(-32_602);
    },
  );

  // Those that name a tool or a prompt are compared with their headers first.
  it.each(CALLS.filter(([, params]) => typeof params.name !== 'string'))(
    'of %s, %j, get it in the newest revision too',
    async (method, params) => {
      const { messages } = await post(...newest(method, params));
      expect(messages[0].error.code).toBe(-32_602);
    },
  );
});

describe('invalid requests', () => {
  it.each([
    ['broken JSON', '{"jsonrpc"', {}, 400, -32_700],
    ['a word', '"tools/list"', {}, 400, -32_700],
    ['nothing', '', {}, 400, -32_600],
    ['no message', '{}', {}, 400, -32_600],
    ['no messages', '[]', {}, 400, -32_600],
    ['another type', '{}', { 'Content-Type': 'text/plain' }, 415, -32_000],
    ['another encoding', '{}', { 'Content-Encoding': 'gzip' }, 415, -32_000],
    ['64 KiB and more', JSON.stringify(rpc('ping', { x: 'x'.repeat(65_536) })), {}, 413, -32_000],
    ['an answer that is not read', JSON.stringify(PING), { Accept: 'text/html' }, 406, -32_000],
  ])('return a JSON-RPC error for %s', async (_, body, headers, status, code) => {
    const answer = await post(body, headers as Record<string, string>);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, expect.stringContaining('application/json')]);
    expect(answer.messages).toMatchObject([{ jsonrpc: '2.0', error: { code, message: expect.any(String) } }]);
  });

  const PLAIN = { 'Content-Type': 'text/plain' };
  const message = { jsonrpc: '2.0', id: 7, method: 'ping' };
  it.each([
    ['a missing jsonrpc', { ...message, jsonrpc: undefined }, {}, 400, -32_600],
    ['an invalid id', { ...message, id: {} }, {}, 400, -32_600],
    ['a missing method', { ...message, method: undefined }, {}, 400, -32_600],
    ['params by position', { ...message, params: [1] }, {}, 400, -32_600],
    ['an unknown member', { ...message, token: 'a' }, {}, 400, -32_600],
    ['an empty batch', [], {}, 400, -32_600],
    ['a batch with an invalid message', [message, { ...message, id: {} }], {}, 400, -32_600],
    ['two initialize requests in a batch', [1, 2].map((id) => rpc('initialize', HELLO, id)), {}, 400, -32_600],
    ['a batch of a revision without batches', [newest('tools/list')[0]], {}, 400, -32_600],
    ['an unknown revision in the header', message, { 'MCP-Protocol-Version': '1999-01-01' }, 400, -32_000],
    ['an unknown revision in the envelope', newest('tools/list', {}, '2027-01-01')[0], {}, 400, -32_022],
    ['a missing envelope', message, { 'MCP-Protocol-Version': NEWEST }, 400, -32_602],
    ['a missing revision header', newest('tools/list')[0], {}, 400, -32_020],
    ['a method header that differs from the body', newest('tools/list')[0], { ...newest('ping')[1] }, 400, -32_020],
    ['a tools/call without a name', rpc('tools/call', {}), {}, 200, -32_602],
    ['a subscription without notifications', ...newest('subscriptions/listen'), 200, -32_602],
    ['an unknown method', rpc('tools/delete'), {}, 200, -32_601],
    ['a method of a later revision', rpc('subscriptions/listen'), {}, 200, -32_601],
    ['an unknown method in the newest revision', ...newest('tools/delete'), 404, -32_601],
    ['initialize in the newest revision', ...newest('initialize'), 404, -32_601],
  ])('returns the code of the protocol for %s', async (_, body, headers, status, code) => {
    const answer = await post(body, headers as Record<string, string>);
    expect([answer.status, answer.messages]).toMatchObject([status, [{ jsonrpc: '2.0', error: { code, message: expect.any(String) } }]]);
  });

  const NESTED = `{"jsonrpc":"2.0","id":7,"method":"ping","params":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`;
  it.each([
    ['nested too deeply', NESTED, {}, 400, -32_600, 'message'],
    ['of another type', '{}', PLAIN, 415, -32_000, 'Content-Type'],
    ['of another type and too large', 'x'.repeat(70_000), PLAIN, 415, -32_000, 'Content-Type'],
  ])('returns our code, field and action for a body that is %s', async (_, body, headers, status, code, field) => {
    const answer = await post(body, headers as Record<string, string>);
    expect([answer.status, answer.messages]).toMatchObject([status, [{ jsonrpc: '2.0', error: { code } }]]);
    const { message, data } = answer.messages[0].error;
    expect(data).toMatchObject({ code: status === 415 ? 'UNSUPPORTED_MEDIA_TYPE' : 'INPUT_INVALID', field, retryable: false });
    expect(message).toBe(`${data.message}. ${data.suggestedAction}`);
  });

  it("keep the data of the SDK's errors", async () => {
    const received = async (...asked: Parameters<typeof post>) => (await post(...asked)).messages[0].error.data;
    expect(await received(newest('tools/list', {}, '2027-01-01')[0])).toMatchObject({ supported: [NEWEST], requested: '2027-01-01' });
    expect(await received(newest('tools/list')[0])).toMatchObject({ mismatch: { header: '(missing)' } });
  });

  it('return the limit for a large body', async () => {
    const { messages } = await post(rpc('ping', { x: 'x'.repeat(65_536) }));
    expect(messages[0].error.data).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', suggestedAction: expect.stringMatching(/64 KiB|65.?536/) });
  });

  it('answers the valid messages of a batch beside the invalid ones', async () => {
    const { status, messages } = await post([rpc('tools/call', {}, 'a'), rpc('ping', {}, 'b'), rpc('none', {}, 'c')]);
    expect(status).toBe(200);
    const codes = Object.fromEntries(messages.map(({ id, error }) => [id, error?.code]));
    expect(codes).toEqual({ a: -32_602, b: undefined, c: -32_601 });
  });

  it('return -32601 under the id of the request for an unknown method', async () => {
    expect((await post(rpc('tools/delete', {}, 'mine'))).messages).toMatchObject([{ id: 'mine', error: { code: -32_601 } }]);
  });

  it('truncates names and URIs in our own errors', async () => {
    const long = 'x'.repeat(20_000);
    for (const request of [
      rpc('resources/read', { uri: `oracle://signal/${long}` }),
      rpc('resources/read', { uri: `oracle://attestations/${long}` }),
      rpc('tools/call', { name: 'get_track_record', arguments: { [long]: 1 } }),
      rpc('prompts/get', { name: 'daily_briefing', arguments: { horizon: long } }),
    ]) {
      const { text, status } = await post(request);
      expect(status).toBe(200);
      expect(text.length, text.slice(0, 200)).toBeLessThan(1_500);
    }
  });
});

describe('the Accept header is a list of media ranges:', () => {
  const JSON_ONLY = /^application\/json/;
  const STREAM = /^text\/event-stream/;
  const REVISIONS = { 'revisions before 2026-07-28': [rpc('tools/list'), {}], 'the newest revision': newest('tools/list') } as const;
  const BOTH = Object.entries(REVISIONS);
  let client: ReturnType<typeof openAsk>;
  beforeAll(() => {
    client = openAsk(served.url);
  });
  afterAll(() => client.close());

  /** `fetch` would add a header where there is none. */
  async function askFor(accept: string | undefined, body: unknown, headers: Record<string, string> = {}) {
    const sent = { 'Content-Type': 'application/json', ...headers, ...(accept === undefined ? {} : { Accept: accept }) };
    const { status, headers: received, text } = await client.ask('/mcp', { method: 'POST', headers: sent, body: JSON.stringify(body) });
    const type = received['content-type'] ?? '';
    return { type, ...replyOf(status, new Headers({ 'content-type': type }), text) };
  }

  describe.each(BOTH)('%s', (_, [body, headers]) => {
    it.each([
      undefined,
      '*/*',
      'application/*',
      'application/json',
      'Application/JSON;q=0.5',
      'application/json; charset=utf-8',
      'application/json, text/plain, */*',
      'application/json, text/event-stream;q=0',
      'text/html;q=0.9, */*;q=0.1',
    ])('serve JSON for %s', async (accept) => {
      const { status, type, messages } = await askFor(accept, body, headers);
      expect([status, type]).toEqual([200, expect.stringMatching(JSON_ONLY)]);
      expect(messages).toMatchObject([{ id: 1, result: { tools: expect.any(Array) } }]);
    });

    it.each(['text/event-stream', 'text/*', 'text/event-stream, application/json;q=0', 'text/event-stream; charset=utf-8'])(
      'serve a stream for %s',
      async (accept) => {
        const { status, type, messages } = await askFor(accept, body, headers);
        expect([status, type]).toEqual([200, expect.stringMatching(STREAM)]);
        expect(messages).toMatchObject([{ id: 1, result: { tools: expect.any(Array) } }]);
      },
    );

    it.each(['text/html', 'image/*', '*/*;q=0', 'application/json-seq'])('return 406 for %s, naming the header', async (accept) => {
      const { status, messages } = await askFor(accept, body, headers);
      const data = {
        code: 'NOT_ACCEPTABLE',
        field: 'Accept',
        retryable: false,
        suggestedAction: expect.stringContaining('application/json'),
      };
      expect([status, messages]).toMatchObject([406, [{ id: 1, error: { code: -32_000, data } }]]);
    });

    it('serve errors of calls as JSON to a client that takes JSON alone', async () => {
      const [unknown, named] = headers === REVISIONS['the newest revision'][1] ? newest('tools/delete') : [rpc('tools/delete'), {}];
      const { type, messages } = await askFor('application/json', unknown, named);
      expect([type, messages]).toMatchObject([expect.stringMatching(JSON_ONLY), [{ id: 1, error: { code: -32_601 } }]]);
    });
  });

  it('a handshake, a call and a notification of a client that takes JSON alone', async () => {
    const [hello, called] = [await askFor('application/json', rpc('initialize', HELLO)), await askFor('*/*', call('get_track_record'))];
    expect(hello.messages).toMatchObject([{ result: { protocolVersion: HELLO.protocolVersion } }]);
    expect(called.messages[0].result.content[0].text.length).toBeGreaterThan(40);
    expect(await askFor('application/json', { jsonrpc: '2.0', method: 'notifications/initialized' })).toMatchObject({
      status: 202,
      text: '',
    });
  });

  it('a batch gets an array where JSON is served, in order', async () => {
    const note = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
    const batch = [rpc('ping', {}, 1), note, rpc('tools/list', {}, 2), rpc('nothing', {}, 3)];
    const { status, type, text, messages } = await askFor('application/json', batch);
    expect([status, type]).toEqual([200, expect.stringMatching(JSON_ONLY)]);
    expect(JSON.parse(text)).toEqual(messages);
    expect(messages).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: {} },
      { id: 3, error: { code: -32_601 } },
    ]);
    expect(JSON.parse((await askFor(undefined, [PING])).text)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect((await askFor('text/event-stream', batch)).messages.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(await askFor('application/json', [note, note])).toMatchObject({ status: 202, text: '' });
  });

  it('a subscription is a stream only', async () => {
    const [body, headers] = newest('subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect(await askFor('*/*', body, headers)).toMatchObject({ status: 200, type: expect.stringMatching(STREAM) });
    const { status, messages } = await askFor('application/json', body, headers);
    expect([status, messages]).toMatchObject([406, [{ id: 1, error: { data: { code: 'NOT_ACCEPTABLE', field: 'Accept' } } }]]);
  });

  it('clients that name both types get the form that the SDK chooses', async () => {
    const both = 'application/json, text/event-stream';
    expect((await askFor(both, PING)).type).toMatch(STREAM);
    expect((await askFor(both, ...newest('tools/list'))).type).toMatch(JSON_ONLY);
  });
});

describe('a batch', () => {
  it('is answered message by message', async () => {
    const { messages } = await post([rpc('ping', {}, 1), rpc('tools/list', {}, 2), rpc('nothing', {}, 3)]);
    expect(messages.map(({ id }) => id).toSorted()).toEqual([1, 2, 3]);
  });

  it('is limited to 20 messages', async () => {
    const batch = Array.from({ length: 20 }, (_, id) => rpc('ping', {}, id));
    expect((await post(batch)).messages).toHaveLength(20);
    const { status, messages } = await post([...batch, PING]);
    expect(status).toBe(400);
    expect(messages).toMatchObject([{ id: null, error: { code: -32_600, data: { field: 'batch' } } }]);
  });
});

describe('rate limits', () => {
  /** The same adapters with low limits and fresh counters. */
  async function limited(limits: { public: number; wallet: number; rpc: number }) {
    const now = () => new Date();
    await service.database.db.collection('request_counts').deleteMany({});
    const rules = createRateLimits({
      counts: createRequestCountStore(service.database.db),
      limits: { ...limits, tasks: 1 },
      now,
      log: service.log,
    });
    return serveApp(createApp([], { ...service.appOptions, limits: rules }, service.adapters));
  }

  it('count every message of a batch, and return JSON-RPC errors', async () => {
    const { url, close } = await limited({ public: 6, wallet: 100, rpc: 100 });
    const note = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
    expect((await postMcp(url, [PING, { ...PING, id: 2 }, note])).status).toBe(200);
    const { status, messages } = await postMcp(
      url,
      [10, 11, 12, 13].map((id) => ({ ...PING, id })),
    );
    expect([status, messages.length]).toEqual([200, 4]);
    expect(messages.slice(0, 3)).toEqual([10, 11, 12].map((id) => ({ jsonrpc: '2.0', id, result: {} })));
    expect(messages[3]).toMatchObject({ id: 13, error: { code: -32_000, data: { code: 'RATE_LIMITED', retryable: true } } });
    const refused = await postMcp(url, PING);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.messages).toMatchObject([{ id: null, error: { code: -32_000, data: { code: 'RATE_LIMITED', retryable: true } } }]);
    await close();
  });

  it('count calls that read the chain separately, and return tool errors', async () => {
    const { url, close } = await limited({ public: 100, wallet: 100, rpc: 1 });
    const verify = rpc('tools/call', { name: 'verify_prediction', arguments: { uid: `0x${'1'.repeat(64)}` } });
    const codeOf = async () => (await postMcp(url, verify)).messages[0].result._meta['bitcoin-signal-oracle/error'].code;
    expect([await codeOf(), await codeOf()]).toEqual(['NOT_FOUND', 'RATE_LIMITED']);
    await close();
  });
});

describe('host and origin names', () => {
  const asked = async (headers: Record<string, string>, method = 'POST') => {
    const { ask, close } = openAsk(served.url);
    const answer = await ask('/mcp', { method, headers: { ...MCP_HEADERS, ...headers }, body: JSON.stringify(PING) });
    close();
    return replyOf(answer.status, new Headers(answer.headers as Record<string, string>), answer.text);
  };

  it.each([
    {},
    { Host: 'localhost:3000' },
    { Host: '127.0.0.1' },
    { Host: '[::1]:3000', Origin: 'http://[::1]:3000' },
    { Origin: 'http://localhost:5173' },
    { Origin: 'http://127.0.0.1' },
  ])('are accepted for the service: %o', async (headers) => {
    expect((await asked(headers as Record<string, string>)).status).toBe(200);
  });

  it.each([
    [{ Host: 'evil.example' }, 'Host'],
    [{ Host: 'localhost.evil.example:3000' }, 'Host'],
    [{ Host: '127.0.0.1.evil.example' }, 'Host'],
    [{ Host: 'evil.example', 'X-Forwarded-Host': 'localhost' }, 'Host'],
    [{ Origin: 'https://evil.example' }, 'Origin'],
    [{ Origin: 'http://localhost.evil.example' }, 'Origin'],
    [{ Origin: 'null' }, 'Origin'],
    [{ Origin: 'file://' }, 'Origin'],
    [{ Origin: 'moz-extension://0123' }, 'Origin'],
  ])('are rejected for others: %o', async (headers, field) => {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const { status, messages } = await asked(headers as unknown as Record<string, string>, method);
      expect(status).toBe(403);
      expect(messages).toMatchObject([{ jsonrpc: '2.0', id: null, error: { code: -32_000, data: { code: 'ORIGIN_REFUSED', field } } }]);
    }
  });

  it('are rejected for others with a valid token too', async () => {
    expect((await asked({ ...(await asTier(service, 'premium')), Origin: 'https://evil.example' })).status).toBe(403);
  });
});

describe('callers', () => {
  it('with a rejected token are anonymous: public tools answer with the challenge, gated ones name the reason', async () => {
    const call = (name: string) => rpc('tools/call', { name, arguments: {} });
    for (const authorization of ['Bearer nonsense', 'Basic YTpi', 'Bearer ']) {
      const [ping, open, gated] = await Promise.all(
        [PING, call('get_market_context'), call('predict_btc_direction')].map((body) => post(body, { Authorization: authorization })),
      );
      for (const { status, headers } of [ping, open, gated]) {
        expect([status, headers.get('www-authenticate')]).toEqual([200, 'Bearer realm="oracle", error="invalid_token"']);
      }
      expect(open.messages[0].result).toMatchObject({ structuredContent: { kind: 'simulated' } });
      const { isError, content } = gated.messages[0].result;
      expect(isError).toBeUndefined();
      expect(content[1].text).toMatch(/^The (access token|Authorization)[\s\S]*\/api\/svc\/oracle\/verify/);
    }
  });

  it('get the same tools, resources and prompts at every tier', async () => {
    const holder = await asTier(service, 'premium');
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list', 'skills/list']) {
      const lists = [await post(rpc(method)), await post(rpc(method)), await post(rpc(method), holder)];
      expect(new Set(lists.map(({ text }) => text)).size, method).toBe(1);
    }
  });

  it('see only their own view when calls are interleaved', async () => {
    const holder = await asTier(service, 'basic');
    const call = rpc('tools/call', { name: 'get_track_record', arguments: { pageSize: 1 } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { messages } = await post(call, index % 2 === 0 ? {} : holder);
        return messages[0].result.structuredContent.entries[0].signal;
      }),
    );
    expect(answers.filter((_, index) => index % 2 === 0)).toEqual(Array(10).fill('GATED'));
    for (const signal of answers.filter((_, index) => index % 2 === 1)) expect(['BUY', 'SELL', 'HOLD']).toContain(signal);
  });
});
