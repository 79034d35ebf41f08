import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoadShedder, type ReleaseSlot } from '../../../../../src/platform/load-shedder.ts';
import { loginToken } from '../../../../support/auth/login.ts';
import { asHeader, UNSOLD_PAYMENT } from '../../../../support/commerce/payments.ts';
import { type Ask, json, openAsk, type Question } from '../../../../support/http/ask.ts';
import { rawConnection } from '../../../../support/http/raw.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { MCP_HEADERS, postMcp, rpc } from '../../../../support/mcp/mcp.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

const SIGNAL = '/api/svc/open/signal';
const PAID = '/oracle?horizon=7d';
/** Requests with a token, those that have begun and pages may wait, anonymous ones never. */
const PRIORITIES = [10_000, 10_000, -1, 10_000].map((maxWaitMs) => ({ maxWaitMs, share: 1 }));
const MARKET = { skill: 'get_market_context', input: { include: ['price'] } };
const message = { messageId: 'one', role: 'ROLE_USER', parts: [{ data: MARKET }] };
const A2A = { 'A2A-Version': '1.0', 'Content-Type': 'application/json' };

let service: TestService;
let loadShedder: LoadShedder;
let slots: ReleaseSlot[];
let served: Served;
let client: ReturnType<typeof openAsk>;
let token: string;

beforeAll(async () => {
  service = await unresolvedService(1);
  service.progress.complete();
  token = await loginToken(service, 'premium');
});
afterAll(() => service?.stop());

beforeEach(async () => {
  loadShedder = new LoadShedder({ priorities: PRIORITIES });
  slots = takeAll();
  served = await serve({ ...service, appOptions: { ...service.appOptions, loadShedder } });
  client = openAsk(served.url);
  return async () => {
    vi.restoreAllMocks();
    client.close();
    await served.close();
  };
});

function takeAll(): ReleaseSlot[] {
  const taken: ReleaseSlot[] = [];
  for (let slot = loadShedder.tryEnter(0); slot !== null; slot = loadShedder.tryEnter(0)) taken.push(slot);
  return taken;
}

const ask: Ask = (path, question) => client.ask(path, question);

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
type Body = any;

/** One request over each transport, with the part of its answer that has the error. */
const TRANSPORTS: Record<string, [string, Question, (body: Body) => unknown]> = {
  REST: [SIGNAL, {}, (body) => body],
  'a REST skill': ['/api/svc/skills/get_market_context', { method: 'POST', ...json({}) }, (body) => body],
  'an unknown path': ['/nothing', {}, (body) => body],
  MCP: [
    '/mcp',
    { method: 'POST', headers: MCP_HEADERS, body: JSON.stringify(rpc('tools/call', { name: MARKET.skill, arguments: MARKET.input })) },
    ({ error }) => error.data,
  ],
  'A2A over JSON-RPC': [
    '/a2a',
    { method: 'POST', headers: A2A, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }) },
    ({ error }) => error.data[0].metadata,
  ],
  'A2A over REST': [
    '/a2a/rest/message:send',
    { method: 'POST', headers: A2A, body: JSON.stringify({ message }) },
    ({ error }) => error.details[0].metadata,
  ],
};

const paymentHeader = (payment: object) => ({ 'PAYMENT-SIGNATURE': asHeader(payment) });

describe('when all capacity is used', () => {
  it.each(Object.entries(TRANSPORTS))('%s answers an anonymous request at once with OVERLOADED and Retry-After', async (_, transport) => {
    const [path, question, getError] = transport;
    const answer = await ask(path, question);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(getError(JSON.parse(answer.text))).toMatchObject({
      code: 'OVERLOADED',
      suggestedAction: expect.stringContaining('Retry-After'),
    });
  });

  it.each(['/health', '/ready', '/llms.txt'])('%s is answered', async (path) => {
    expect((await ask(path)).status).toBe(path === '/llms.txt' ? 503 : 200);
  });

  it('a request with a valid token is answered as soon as there is capacity', async () => {
    const answering = ask('/api/svc/oracle', { headers: { Authorization: `Bearer ${token}` } });
    await expect.poll(() => loadShedder.waiting).toBe(1);
    slots.shift()!();
    expect((await answering).status).toBe(200);
  });

  it('a payment is not kept waiting', async () => {
    expect((await ask(PAID)).status).toBe(503);
    expect((await ask(PAID, { headers: paymentHeader(UNSOLD_PAYMENT) })).status).toBe(402);
  });

  const paidCall = { name: MARKET.skill, arguments: MARKET.input, _meta: { 'x402/payment': UNSOLD_PAYMENT } };
  const paidMessage = { ...message, metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': UNSOLD_PAYMENT } };
  const a2a = (path: string, body: object): [string, Question] => [path, { method: 'POST', headers: A2A, body: JSON.stringify(body) }];
  it.each<[string, [string, Question]]>([
    ['MCP', ['/mcp', { method: 'POST', headers: MCP_HEADERS, body: JSON.stringify(rpc('tools/call', paidCall)) }]],
    ['A2A over JSON-RPC', a2a('/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: paidMessage } })],
    ['A2A over REST', a2a('/a2a/rest/message:send', { message: paidMessage })],
  ])('a payment over %s is not kept waiting', async (_, [path, question]) => {
    expect((await ask(path, question)).text).not.toContain('OVERLOADED');
    const unpaid = String(question.body).replaceAll('"exact"', '"upto"');
    expect((await ask(path, { ...question, body: unpaid })).text).toContain('OVERLOADED');
  });

  it.each([
    ['a document that is paid by a transfer', '/api/svc/commerce/purchase'],
    ['an answer that is paid', '/api/svc/commerce/answers'],
    ['the deliverable of a job', '/api/svc/commerce/jobs/1/deliverable'],
  ])('%s is delivered', async (_, path) => {
    expect(await ask(path, { method: 'POST', ...json({}) })).toMatchObject({ status: 400 });
  });

  it.each([
    ['an empty object', {}],
    ['another scheme', { ...UNSOLD_PAYMENT, accepted: { ...UNSOLD_PAYMENT.accepted, scheme: 'upto' } }],
    ['another network', { ...UNSOLD_PAYMENT, accepted: { ...UNSOLD_PAYMENT.accepted, network: 'solana:mainnet' } }],
    ['no signature', { ...UNSOLD_PAYMENT, payload: { ...UNSOLD_PAYMENT.payload, signature: '0x' } }],
  ])('a payment header with %s is no priority', async (_, payment) => {
    expect((await ask(PAID, { headers: paymentHeader(payment) })).status).toBe(503);
  });

  it('a payment header that is not base64 of JSON is no priority', async () => {
    expect((await ask(PAID, { headers: { 'PAYMENT-SIGNATURE': '???' } })).status).toBe(503);
  });

  it('a rejected token is no priority', async () => {
    expect((await ask(SIGNAL, { headers: { Authorization: 'Bearer nonsense' } })).status).toBe(503);
  });

  it('the operator is not kept waiting', async () => {
    expect((await ask('/admin/')).status).toBe(404);
  });
});

it('every answered or abandoned request gives its slot back', async () => {
  const count = slots.length;
  for (const release of slots) release();
  await Promise.all(Object.values(TRANSPORTS).map(([path, question]) => ask(path, question)));
  await ask('/api/svc/oracle', { headers: { Authorization: `Bearer ${token}` } });
  await expect.poll(() => takeAll().length).toBe(count);
});

const CALL = { name: MARKET.skill, arguments: MARKET.input };
const a2aCall = (method: string, configuration = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message: { ...message, messageId: randomUUID() }, configuration } });

/** Runs of a skill, over each transport. */
const RUNS: Record<string, [string, Question]> = {
  REST: ['/api/svc/skills/get_market_context', { method: 'POST', ...json(MARKET.input) }],
  MCP: ['/mcp', { method: 'POST', headers: MCP_HEADERS, body: JSON.stringify(rpc('tools/call', CALL)) }],
  'a batch of MCP': ['/mcp', { method: 'POST', headers: MCP_HEADERS, body: JSON.stringify([rpc('tools/call', CALL)]) }],
  'A2A over JSON-RPC': ['/a2a', { method: 'POST', headers: A2A, body: a2aCall('SendMessage') }],
  'A2A in the background': ['/a2a', { method: 'POST', headers: A2A, body: a2aCall('SendMessage', { returnImmediately: true }) }],
  'a stream of A2A': ['/a2a', { method: 'POST', headers: A2A, body: a2aCall('SendStreamingMessage') }],
  'A2A over REST': [
    '/a2a/rest/message:send',
    { method: 'POST', headers: A2A, body: JSON.stringify({ message: { ...message, messageId: randomUUID() } }) },
  ],
};

describe('capacity', () => {
  it.each(Object.entries(RUNS))(
    'of a skill over %s is held until its run has ended, whatever the client does',
    async (_, [path, question]) => {
      slots.shift()!();
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { report } = service.http.market;
      vi.spyOn(service.http.market, 'report').mockImplementation(async (...asked) => {
        begun.resolve();
        await end.promise;
        return report(...asked);
      });
      const gone = new AbortController();
      const { method = 'GET', headers = {}, body } = question;
      const sent = fetch(`${served.url}${path}`, { method, headers, body: body as string, signal: gone.signal }).catch(() => null);
      await begun.promise;
      gone.abort();
      await sent;
      // The server has seen the end of the connection once it has answered on another.
      expect((await ask('/health')).status).toBe(200);
      expect(loadShedder.tryEnter(0)).toBeNull();
      end.resolve();
      await expect.poll(() => takeAll().length).toBe(1);
    },
  );

  it('is acquired by each message of a batch alone, one after the other', async () => {
    const [free] = slots.splice(0, 1);
    free!();
    const admitted = vi.spyOn(loadShedder, 'tryEnter');
    const { messages } = await postMcp(
      served.url,
      Array.from({ length: 20 }, (_, id) => rpc('tools/call', CALL, id)),
    );
    expect(messages.map(({ result }) => result.isError)).toEqual(Array(20).fill(undefined));
    expect(admitted.mock.calls.length).toBeGreaterThanOrEqual(20);
  });

  it('is not held for a client that sends its body slowly', async () => {
    slots.shift()!();
    const slow = rawConnection(served.url);
    slow.socket.write(
      'POST /api/svc/skills/get_market_context HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
    );
    await expect.poll(async () => (await ask(SIGNAL)).status).toBe(200);
    expect((await ask(SIGNAL)).status).toBe(200);
    slow.socket.write('}');
    expect(await slow.until(/"text":/)).toContain('200 OK');
    slow.socket.destroy();
  });

  it('of a stream that waits for its caller is given back', async () => {
    slots.shift()!();
    const gone = new AbortController();
    const asking = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: { ...message, messageId: 'asks', parts: [{ text: 'hello' }] } },
    });
    const stream = await fetch(`${served.url}/a2a`, { method: 'POST', headers: A2A, body: asking, signal: gone.signal });
    expect(stream.status).toBe(200);
    await expect.poll(async () => (await ask(SIGNAL)).status).toBe(200);
    gone.abort();
  });
});
