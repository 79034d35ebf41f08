import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXTENSION_URIS } from '../../../../agent-card/card.ts';
import { type Buyer, demoBuyer } from '../../../support/commerce/buyer.ts';
import { asHeader } from '../../../support/commerce/payments.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { MCP_CLIENTS, postMcp, rpc } from '../../../support/mcp/mcp.ts';
import { type TestService, unresolvedService } from '../../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: the terms are passed to the client as they are
type Answer = any;

const PREDICT = 'predict_btc_direction';

let service: TestService;
let served: Served;
let buyer: Buyer;

beforeAll(async () => {
  service = await unresolvedService(1, { METRICS_PORT: '0' });
  served = await serve(service);
  buyer = demoBuyer(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

/** Counters that `work` moves, by how much; the first reading sets those that it does not name. */
async function countDuring(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const read = async () => {
    const lines = (await service.metrics!.render()).split('\n');
    const counts = lines.filter((line) => /^oracle_(?:mcp_messages|payment_terms|payments_begun|payments)_total\{/.test(line));
    return new Map(counts.map((line) => [line.slice('oracle_'.length, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]));
  };
  const before = await read();
  await work();
  const moved = [...(await read())].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(moved.filter(([, difference]) => difference !== 0));
}

const mcp = (method: string, result: string, tool = '') => `mcp_messages_total{method="${method}",tool="${tool}",result="${result}"}`;
const paid = (over: string, outcome: string) => `payments_total{interface="${over}",outcome="${outcome}"}`;

it('counts MCP messages by method, tool and result, of every revision and form, and names none that a client made up', async () => {
  const counts = await countDuring(async () => {
    const client = await MCP_CLIENTS['2026-07-28'](served.url, {});
    await client.callTool({ name: 'get_market_context' });
    await client.callTool({ name: PREDICT, arguments: { horizon: '9d' } });
    await client.close();
    await postMcp(served.url, [rpc('tools/call', { name: 'get_market_context', arguments: {} }, 1), rpc('prompts/list', {}, 2)]);
    await postMcp(served.url, rpc('tools/call', { name: 'secret-in-a-name' }), { Accept: 'application/json' });
    await postMcp(served.url, rpc('secret/method'));
    await postMcp(served.url, rpc('logging/setLevel', { level: 'secret' }));
    await postMcp(served.url, rpc('skills/get', { uri: 'skill://secret/SKILL.md' }));
  });
  expect(counts).toMatchObject({
    [mcp('server/discover', 'ok')]: 1,
    [mcp('tools/call', 'ok', 'get_market_context')]: 2,
    [mcp('tools/call', 'error', PREDICT)]: 1,
    [mcp('prompts/list', 'ok')]: 1,
    [mcp('tools/call', 'error', '(other)')]: 1,
    [mcp('skills/get', 'error')]: 1,
  });
  expect(await service.metrics!.render()).not.toContain('secret');
});

it('counts terms, begun and settled payments of REST, and rejected ones', async () => {
  const path = `${served.url}/oracle?horizon=7d`;
  const ask = async (payment?: object): Promise<Answer> =>
    (await fetch(path, payment && { headers: { 'PAYMENT-SIGNATURE': asHeader(payment) } })).json();
  const counts = await countDuring(async () => {
    const { accepts, resource, extensions, x402Version } = await ask();
    const payment = await buyer.pay({ accepts, resource, extensions, x402Version });
    await ask(payment);
    await ask({ ...payment, payload: { ...payment.payload, signature: `0x${'1'.repeat(130)}` } });
  });
  expect(counts).toEqual({
    'payment_terms_total{interface="rest"}': 1,
    'payments_begun_total{interface="rest"}': 2,
    [paid('rest', 'accepted')]: 1,
    [paid('rest', 'rejected')]: 1,
  });
});

it('counts them of MCP', async () => {
  const call = async (payment?: object) => {
    const _meta = payment === undefined ? {} : { 'x402/payment': payment };
    const { messages } = await postMcp(served.url, rpc('tools/call', { name: PREDICT, arguments: { access: 'pay' }, _meta }));
    return messages[0].result;
  };
  const counts = await countDuring(async () => {
    const payment = await buyer.pay(JSON.parse((await call()).content[0].text));
    expect((await call(payment)).isError).toBeUndefined();
  });
  expect(counts).toEqual({
    [mcp('tools/call', 'error', PREDICT)]: 1,
    [mcp('tools/call', 'ok', PREDICT)]: 1,
    'payment_terms_total{interface="mcp"}': 1,
    'payments_begun_total{interface="mcp"}': 1,
    [paid('mcp', 'accepted')]: 1,
  });
});

it('counts them of A2A', async () => {
  const send = async (message: object) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { role: 'ROLE_USER', ...message } } };
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0', 'A2A-Extensions': EXTENSION_URIS.x402 };
    const answer = await fetch(`${served.url}/a2a`, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await answer.json()) as Answer).result.task;
  };
  const counts = await countDuring(async () => {
    const billed = await send({ messageId: 'ask', parts: [{ data: { skill: PREDICT, input: {} } }] });
    const payload = await buyer.pay(billed.status.message.metadata['x402.payment.required']);
    const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload };
    const sold = await send({ messageId: 'pay', taskId: billed.id, contextId: billed.contextId, parts: [{ text: 'paid' }], metadata });
    expect(sold.status.state).toBe('TASK_STATE_COMPLETED');
  });
  expect(counts).toEqual({
    'payment_terms_total{interface="a2a"}': 1,
    'payments_begun_total{interface="a2a"}': 1,
    [paid('a2a', 'accepted')]: 1,
  });
});
