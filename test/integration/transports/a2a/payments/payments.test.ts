import { type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { JsonRpcTransport as OlderTransport } from 'a2a-sdk-0.3/client';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { EXTENSION_URIS } from '../../../../../agent-card/card.ts';
import { MESSAGE_LIMITS } from '../../../../../src/a2a/plan.ts';
import { message, rpcOf, streamOf } from '../../../../support/a2a/a2a-bench.ts';
import { a2aClientAt, asTask, getRejectionMetadata } from '../../../../support/a2a/a2a-client.ts';
import { dataPart, findContent, messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';
import { loginToken } from '../../../../support/auth/login.ts';
import { type Buyer, demoBuyer, isReceiptOf, type Money, type Payload, spentSince } from '../../../../support/commerce/buyer.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

const PREDICT = { skill: 'predict_btc_direction', input: { horizon: '7d' } };
const RESOURCE = 'http://127.0.0.1:3000/a2a#predict_btc_direction';
const PRICE = { buyer: 1_000n, payee: 1_000n, payments: 1 };
const NOTHING = { buyer: 0n, payee: 0n, payments: 0 };
const PAYS = { 'A2A-Extensions': EXTENSION_URIS.x402 };

let service: TestService;
let served: Served;
let buyer: Buyer;
/** Answer of a token holder. */
let truth: Record<string, unknown>;
let before: Money;

beforeAll(async () => {
  service = await unresolvedService(1);
  served = await serve(service);
  buyer = demoBuyer(service);
  const holder = await a2aClientAt(served.url, 'JSONRPC', await loginToken(service, 'basic'));
  const received = asTask(await holder.sendMessage(messageOf([dataPart(PREDICT)]), { serviceParameters: PAYS }));
  truth = findContent(received.artifacts[0]!.parts, 'data') as Record<string, unknown>;
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});
beforeEach(async () => {
  before = await buyer.money();
});

/** Removes fields that depend on the clock. */
const lasting = ({ ageSeconds: _, ...rest }: Record<string, unknown>) => rest;
const stateOf = ({ status }: Task) => TaskState[status!.state];
// biome-ignore lint/suspicious/noExplicitAny: metadata is what is tested
const saidWith = ({ status }: Task) => status!.message!.metadata as Record<string, any>;
const outputOf = ({ artifacts }: Task) => findContent(artifacts[0]!.parts, 'data') as Record<string, unknown>;

/** Message that answers payment requirements. */
const submitted = (payload: Payload, more: object = {}) => ({
  'x402.payment.status': 'payment-submitted',
  'x402.payment.payload': payload,
  ...more,
});

function paymentFor({ id: taskId }: Task, payload: Payload, more: object = {}): SendMessageRequest {
  return messageOf([textPart('Here is the payment authorization.')], { taskId, metadata: submitted(payload, more) });
}

/** What MCP answers in the same case: everything public, and nothing else. */
async function expectPublicPart(task: Task) {
  const { parts } = task.status!.message!;
  const data = parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []));
  const texts = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
  const open = (await (await fetch(`${served.url}/api/svc/open/signal`)).json()) as Record<string, unknown>;
  const { predictionId, windowOpensAt, resolvesAt, btcPrice } = open;
  expect(data[1]).toMatchObject({ signal: 'GATED', direction: null, confidence: null, pUp: null, horizon: '7d' });
  expect(data[1]).toMatchObject({ predictionId, windowOpensAt, resolvesAt, btcPrice, range: { share: 0.8 } });
  expect(texts[1]).toMatch(/^Size of the move over 7d: .*BTC\/USD closes between \d+ and \d+ .*Direction, no proven skill: /s);
  expect(texts[1]).toMatch(/To see it: sign in with a wallet that holds .*, pay .* by x402, or wait until \d{4}-\d{2}-\d{2}\./);
}

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('a buyer with the official client over %s', (binding) => {
  let client: Client;
  const send = async (request: SendMessageRequest) => asTask(await client.sendMessage(request, { serviceParameters: PAYS }));
  const billed = () => send(messageOf([dataPart(PREDICT)]));

  beforeAll(async () => {
    client = await a2aClientAt(served.url, binding);
  });

  test('gets STEP_WAITING without a charge during the replay', async () => {
    service.progress.replayAhead = true;
    onTestFinished(() => {
      service.progress.replayAhead = false;
    });
    const { status } = await billed();
    expect(TaskState[status!.state]).toBe('TASK_STATE_FAILED');
    expect(findContent(status!.message!.parts, 'data')).toMatchObject({ code: 'STEP_WAITING', retryable: true, retryAfterSeconds: 10 });
    expect(JSON.stringify(status)).not.toContain('"accepts"');
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });

  test.each([
    ['with its price', { serviceParameters: PAYS }, 'TASK_STATE_INPUT_REQUIRED'],
    ['with the reason why it is withheld', {}, 'TASK_STATE_REJECTED'],
  ])('gets the public part of the answer %s', async (_what, options, state) => {
    for (const part of [dataPart(PREDICT), textPart('Where is bitcoin going over the next week?')]) {
      const task = asTask(await client.sendMessage(messageOf([part]), options));
      expect(stateOf(task)).toBe(state);
      await expectPublicPart(task);
      const received = JSON.stringify(task);
      for (const secret of [truth.salt, String(truth.confidence), String(truth.pUp)]) expect(received).not.toContain(secret);
    }
  });

  test('gets payment requirements of the extension without the forecast', async () => {
    const task = await billed();
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
    const { merchant: till } = service.http.commerce;
    const said = saidWith(task);
    expect(said).toMatchObject({
      'x402.payment.status': 'payment-required',
      'x402.payment.required': {
        x402Version: 1,
        accepts: [{ scheme: 'exact', network: 'base-sepolia', maxAmountRequired: '1000', resource: RESOURCE, extra: till.domain }],
      },
      'bitcoin-signal-oracle/payment-required': { x402Version: 2, accepts: [{ amount: '1000', network: 'eip155:84532' }] },
    });
    const { extensions } = said['bitcoin-signal-oracle/payment-required'];
    expect(extensions['offer-receipt'].info.offers[0].payload).toMatchObject({ resourceUrl: RESOURCE, amount: '1000' });
    expect(extensions).not.toHaveProperty('sign-in-with-x');
    expect(BigInt(said['x402.payment.required'].accepts[0].payTo)).toBe(BigInt(till.payee));
    expect(task.status!.message!.extensions).toEqual([EXTENSION_URIS.x402]);
    expect(findContent(task.status!.message!.parts, 'data')).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(findContent(task.status!.message!.parts, 'text')).toMatch(/Pay 0\.001 USD .*taskId/);
    const received = JSON.stringify(task);
    for (const secret of [truth.salt, String(truth.confidence), String(truth.pUp)]) expect(received).not.toContain(secret);
    expect(received).not.toMatch(/"(BUY|SELL|UP|DOWN|HOLD)"/);
  });

  test.each([
    ['x402.payment.required', 1, 'base-sepolia'],
    ['bitcoin-signal-oracle/payment-required', 2, 'eip155:84532'],
  ])('pays as %s quotes, and gets the answer of a token holder with a matching receipt', async (member, version, network) => {
    const bill = await billed();
    const payload = await buyer.pay(saidWith(bill)[member]);
    expect(payload.x402Version).toBe(version);
    const task = await send(paymentFor(bill, payload, { 'bitcoin-signal-oracle/ref': 'Partner-7' }));
    expect(stateOf(task), JSON.stringify(task.status)).toBe('TASK_STATE_COMPLETED');
    expect(task.id).toBe(bill.id);
    expect(lasting(outputOf(task))).toEqual(lasting(truth));
    const said = saidWith(task);
    const { payment, receipt } = said['bitcoin-signal-oracle/receipt'];
    expect(said).toMatchObject({
      'x402.payment.status': 'payment-completed',
      'x402.payment.receipts': [{ success: true, network, transaction: payment.txHash, payer: buyer.account.address }],
    });
    const { payload: x402Receipt } = said['x402.payment.receipts'][0].extensions['offer-receipt'].info.receipt;
    expect(x402Receipt).toMatchObject({
      network: 'eip155:84532',
      resourceUrl: RESOURCE,
      transaction: payment.txHash,
      payer: payment.payer,
    });
    expect(receipt.message).toMatchObject({ amount: '1000', resource: RESOURCE, forecastId: truth.predictionId });
    expect(await isReceiptOf(receipt, outputOf(task))).toBe(true);
    expect(await spentSince(buyer, before)).toEqual(PRICE);
    const { ledger } = service.http.commerce;
    expect(await ledger.payments.findOne({ txHash: payment.txHash })).toMatchObject({ offering: 'x402_signal', ref: 'partner-7' });
    expect(await client.getTask({ tenant: '', id: task.id, historyLength: undefined })).toEqual(task);
  });

  test('pays with the opening message, and once for a repeated payment', async () => {
    const payload = await buyer.pay(saidWith(await billed())['x402.payment.required']);
    const opening = messageOf([dataPart(PREDICT)], { metadata: submitted(payload) });
    const [task, same] = await Promise.all([send(opening), send(opening)]);
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
    expect(same).toEqual(task);
    const another = await send(messageOf([dataPart(PREDICT)], { metadata: submitted(payload) }));
    expect(another.id).not.toBe(task.id);
    expect(outputOf(another)).toEqual(outputOf(task));
    expect(await spentSince(buyer, before)).toEqual(PRICE);
  });

  test('gets the reason of a failed payment, and pays again on the same task', async () => {
    const bill = await billed();
    const good = await buyer.pay(saidWith(bill)['x402.payment.required']);
    const { authorization, signature } = good.payload;
    const withPayload = (change: object) => ({ ...good, payload: { signature, authorization, ...change } });
    const faults: [Payload, string][] = [
      [withPayload({ authorization: { ...authorization, nonce: `0x${'9'.repeat(64)}` } }), 'INVALID_SIGNATURE'],
      [withPayload({ authorization: { ...authorization, value: '1' } }), 'INVALID_AMOUNT'],
      [withPayload({ authorization: { ...authorization, validBefore: '1' } }), 'EXPIRED_PAYMENT'],
      [{ ...good, network: 'polygon' }, 'NETWORK_MISMATCH'],
      [{ x402Version: 1 }, 'SETTLEMENT_FAILED'],
    ];
    for (const [index, [bad, code]] of faults.entries()) {
      const failed = await send(paymentFor(bill, bad));
      expect(stateOf(failed)).toBe('TASK_STATE_INPUT_REQUIRED');
      const said = saidWith(failed);
      expect(said).toMatchObject({
        'x402.payment.status': 'payment-failed',
        'x402.payment.error': code,
        'x402.payment.required': { accepts: [{ maxAmountRequired: '1000' }] },
      });
      expect(said['x402.payment.receipts']).toHaveLength(index + 1);
      expect(said['x402.payment.receipts'].at(-1)).toMatchObject({
        success: false,
        transaction: '',
        errorReason: expect.stringMatching(/^(invalid|insufficient|unexpected)_[a-z_]+$/),
      });
    }
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
    const task = await send(paymentFor(bill, good));
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
    const receipts: { success: boolean }[] = saidWith(task)['x402.payment.receipts'];
    expect(receipts.map(({ success }) => success)).toEqual([...faults.map(() => false), true]);
    expect(await spentSince(buyer, before)).toEqual(PRICE);
    const other = messageOf([dataPart({ ...PREDICT, input: { horizon: '2d' } })], { metadata: submitted(good) });
    expect(saidWith(await send(other))).toMatchObject({ 'x402.payment.error': 'DUPLICATE_NONCE' });
  });

  test('declines, which ends the task', async () => {
    const { id: taskId } = await billed();
    const declined = await send(messageOf([textPart('No.')], { taskId, metadata: { 'x402.payment.status': 'payment-rejected' } }));
    expect(stateOf(declined)).toBe('TASK_STATE_CANCELED');
    expect(saidWith(declined)).toEqual({ 'x402.payment.status': 'payment-rejected', 'x402.payment.receipts': [] });
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });

  test('calls a free skill on the same task, and keeps the payment', async () => {
    const bill = await billed();
    const payload = await buyer.pay(saidWith(bill)['x402.payment.required']);
    const free = { skill: 'get_market_context', input: { include: ['price'] } };
    const task = await send(messageOf([dataPart(free)], { taskId: bill.id }));
    expect([stateOf(task), task.artifacts[0]!.name]).toEqual(['TASK_STATE_COMPLETED', 'get_market_context']);
    const paidForNothing = await send(messageOf([dataPart(free)], { metadata: submitted(payload) }));
    expect(stateOf(paidForNothing)).toBe('TASK_STATE_COMPLETED');
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });

  test('is rejected with payment instructions when the extension is not activated', async () => {
    const task = asTask(await client.sendMessage(messageOf([dataPart(PREDICT)])));
    expect(stateOf(task)).toBe('TASK_STATE_REJECTED');
    expect(task.status!.message!.metadata).toBeUndefined();
    expect(findContent(task.status!.message!.parts, 'data')).toMatchObject({ code: 'UNAUTHENTICATED', field: 'Authorization' });
    expect(findContent(task.status!.message!.parts, 'text')).toContain(`A2A-Extensions: ${EXTENSION_URIS.x402}`);
  });
});

test('pays with the client of protocol 0.3 as the extension describes', async () => {
  const client = new OlderTransport({ endpoint: `${served.url}/a2a` });
  // biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
  const send = (parts: any[], more: object = {}): Promise<any> =>
    client.sendMessage(
      { message: { kind: 'message', role: 'user', messageId: crypto.randomUUID(), parts, ...more } },
      { serviceParameters: { 'X-A2A-Extensions': EXTENSION_URIS.x402 } },
    );
  const bill = await send([{ kind: 'data', data: PREDICT }]);
  expect(bill.status).toMatchObject({ state: 'input-required', message: { metadata: { 'x402.payment.status': 'payment-required' } } });
  const payload = await buyer.pay(bill.status.message.metadata['x402.payment.required']);
  const task = await send([{ kind: 'text', text: 'Here is the payment authorization.' }], {
    taskId: bill.id,
    metadata: submitted(payload),
  });
  expect(task.status).toMatchObject({ state: 'completed', message: { metadata: { 'x402.payment.status': 'payment-completed' } } });
  expect(lasting(task.artifacts[0].parts[0].data)).toEqual(lasting(truth));
  expect(await spentSince(buyer, before)).toEqual(PRICE);
});

describe('a hand-made payment', () => {
  const rpc = (method: string, params: unknown, headers: Record<string, string> = PAYS) => rpcOf(served.url)(method, params, headers);
  const bill = async () => (await rpc('SendMessage', message({ data: PREDICT }))).body.result.task;
  const pay = async (task: { status: { message: { metadata: Record<string, unknown> } } }) =>
    buyer.pay(task.status.message.metadata['x402.payment.required']);

  test('gets the activated extension under the header name of its version', async () => {
    const named = async (headers: Record<string, string>) => {
      const answer = await rpc('SendMessage', message({ data: PREDICT }), headers);
      return [answer.headers.get('A2A-Extensions'), answer.headers.get('X-A2A-Extensions'), answer.body.result.task.status.state];
    };
    expect(await named(PAYS)).toEqual([EXTENSION_URIS.x402, null, 'TASK_STATE_INPUT_REQUIRED']);
    expect(await named({ 'X-A2A-Extensions': `urn:other, ${EXTENSION_URIS.x402}` })).toEqual([
      EXTENSION_URIS.x402,
      null,
      'TASK_STATE_INPUT_REQUIRED',
    ]);
    expect(await named({ 'A2A-Extensions': 'urn:other' })).toEqual([null, null, 'TASK_STATE_REJECTED']);
  });

  test('is streamed from quote to answer', async () => {
    const task = await bill();
    const payload = await pay(task);
    const params = message({ text: 'Here.' }, { taskId: task.id, metadata: submitted(payload) });
    const events = await streamOf(served.url, 'SendStreamingMessage', params, { headers: PAYS });
    const received = events.flatMap(({ statusUpdate }) => statusUpdate?.status.message?.metadata?.['x402.payment.status'] ?? []);
    expect(received).toEqual(['payment-verified', 'payment-completed']);
    expect(events.findIndex((event) => event.artifactUpdate !== undefined)).toBe(events.length - 2);
    expect(JSON.stringify(events)).not.toContain(payload.payload.signature.slice(2, 60));
    expect(await spentSince(buyer, before)).toEqual(PRICE);
  });

  test('is stored in no task, list or collection, neither signed nor readable by others at the address', async () => {
    const task = await bill();
    const payload = await pay(task);
    const request = message({ text: 'Here.' }, { taskId: task.id, metadata: submitted(payload) });
    const done = (await rpc('SendMessage', request)).body.result.task;
    const db = service.database.db;
    const kept = await Promise.all(['a2a_tasks', 'a2a_messages'].map((name) => db.collection(name).find().toArray()));
    const streamed = await streamOf(served.url, 'SendStreamingMessage', request, { headers: PAYS });
    for (const text of [kept, done, streamed].map((value) => JSON.stringify(value))) {
      expect(text).not.toContain(payload.payload.signature.slice(2, 60));
    }
    expect(done.history.some(({ metadata = {} }: Payload) => metadata['x402.payment.status'] === 'payment-submitted')).toBe(true);
    const { tasks = [] } = (await rpc('ListTasks', { pageSize: 100 })).body.result;
    expect(tasks.map(({ id }: { id: string }) => id)).not.toContain(task.id);
    expect((await rpc('GetTask', { id: task.id })).body.result.artifacts).toHaveLength(1);
  });

  test('is rejected under a used messageId', async () => {
    const task = await bill();
    const first = message({ text: 'Here.' }, { taskId: task.id, metadata: submitted(await pay(task)) });
    await rpc('SendMessage', first);
    const second = { message: { ...first.message, metadata: submitted(await pay(task)) } };
    expect((await rpc('SendMessage', second)).body.error.data[0].metadata).toMatchObject({ code: 'CONFLICT', field: 'message.messageId' });
    expect(await spentSince(buyer, before)).toEqual(PRICE);
  });

  test.each([
    ['a status that there is not', { 'x402.payment.status': 'payment-completed' }, 'x402.payment.status'],
    ['a payment without a status', { 'x402.payment.payload': {} }, 'x402.payment.status'],
    ['no payment', { 'x402.payment.status': 'payment-submitted' }, 'x402.payment.payload'],
    ['a payment that is too large', submitted({ x: 'y'.repeat(MESSAGE_LIMITS.paymentBytes) }), 'x402.payment.payload'],
  ])('is rejected and the task keeps waiting when it has %s', async (_, metadata, member) => {
    const task = await bill();
    const { body } = await rpc('SendMessage', message({ text: 'Here.' }, { taskId: task.id, metadata }));
    expect(body.error.data[0].metadata).toMatchObject({ code: 'INPUT_INVALID', field: `message.metadata.${member}` });
    expect((await rpc('GetTask', { id: task.id })).body.result.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  test('with an invalid referral code is rejected before it is verified', async () => {
    const task = await bill();
    const metadata = submitted(await pay(task), { 'bitcoin-signal-oracle/ref': '-' });
    const { body } = await rpc('SendMessage', message({ text: 'Here.' }, { taskId: task.id, metadata }));
    expect(body.error.data[0].metadata).toMatchObject({ code: 'INPUT_INVALID', field: 'ref' });
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });

  test('is never requested for invalid input', async () => {
    const wrong = message({ data: { ...PREDICT, input: { horizon: '9d' } } });
    expect((await rpc('SendMessage', wrong)).body.error.data[0].metadata).toMatchObject({ code: 'INPUT_INVALID', field: 'horizon' });
  });
});

test('is not requested from a token holder', async () => {
  const token = await loginToken(service, 'basic');
  const client = await a2aClientAt(served.url, 'JSONRPC', token);
  const bill = asTask(
    await (await a2aClientAt(served.url, 'JSONRPC')).sendMessage(messageOf([dataPart(PREDICT)]), { serviceParameters: PAYS }),
  );
  const payload = await buyer.pay(saidWith(bill)['x402.payment.required']);
  const task = asTask(
    await client.sendMessage(messageOf([dataPart(PREDICT)], { metadata: submitted(payload) }), { serviceParameters: PAYS }),
  );
  expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
  expect(await spentSince(buyer, before)).toEqual(NOTHING);
  expect(await getRejectionMetadata(client.sendMessage(paymentFor(bill, payload)))).toMatchObject({ code: 'NOT_FOUND' });
});
