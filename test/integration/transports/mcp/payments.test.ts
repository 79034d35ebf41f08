import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findSkill } from '../../../../skills/runner.ts';
import { getToolListing } from '../../../../src/mcp/tools.ts';
import { asTier } from '../../../support/auth/login.ts';
import { type Buyer, demoBuyer, isReceiptOf, type Money, type Payload, spentSince } from '../../../support/commerce/buyer.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { MCP_CLIENTS, type McpClient, postMcp, rpc } from '../../../support/mcp/mcp.ts';
import { type TestService, unresolvedService } from '../../../support/service/service.ts';

const PREDICT = 'predict_btc_direction';
const LISTING = getToolListing(findSkill(PREDICT));
const RECEIPT = 'bitcoin-signal-oracle/receipt';
const ERROR = 'bitcoin-signal-oracle/error';
const PRICE = { buyer: 1_000n, payee: 1_000n, payments: 1 };
const NOTHING = { buyer: 0n, payee: 0n, payments: 0 };

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
  const basic = await MCP_CLIENTS['2026-07-28'](served.url, await asTier(service, 'basic'));
  truth = (await basic.callTool({ name: PREDICT, arguments: { form: 'full' } })).structuredContent;
  await basic.close();
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
const withoutListing = (json: string) =>
  JSON.stringify(JSON.parse(json, (key, value) => (key === 'bazaar' ? undefined : value))).replaceAll(
    JSON.stringify(JSON.stringify(LISTING)).slice(1, -1),
    '',
  );
const requiredBy = (refused: { content: { text: string }[] }) => JSON.parse(refused.content[0]!.text);

describe.each(Object.keys(MCP_CLIENTS) as (keyof typeof MCP_CLIENTS)[])('a buyer with the official client, %s', (name) => {
  let client: McpClient;
  const call = (payment?: unknown, more: Record<string, unknown> = {}) =>
    client.callTool({
      ...{ name: PREDICT, arguments: { access: 'pay' }, ...more },
      ...(payment === undefined ? {} : { _meta: { 'x402/payment': payment, ...(more._meta as object) } }),
    } as Parameters<McpClient['callTool']>[0]);
  const terms = async () => requiredBy(await call());
  const payment = async (): Promise<Payload> => buyer.pay(await terms());

  beforeAll(async () => {
    client = await MCP_CLIENTS[name](served.url, {});
  });
  afterAll(() => client?.close());

  it('gets payment requirements without the forecast', async () => {
    const refused = await call();
    const required = requiredBy(refused);
    const { merchant: till } = service.http.commerce;
    expect(refused.isError).toBe(true);
    expect(required).toMatchObject({
      x402Version: 2,
      error: 'payment_required',
      resource: { url: `http://127.0.0.1:3000/mcp#${PREDICT}`, mimeType: 'application/json' },
      accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: '1000', maxTimeoutSeconds: 300, extra: till.domain }],
      extensions: { 'payment-identifier': {}, bazaar: LISTING },
    });
    expect(required.extensions['offer-receipt'].info.offers[0].payload).toMatchObject({
      resourceUrl: required.resource.url,
      amount: '1000',
    });
    expect(required.extensions).not.toHaveProperty('sign-in-with-x');
    expect(BigInt(required.accepts[0].asset)).toBe(BigInt(till.asset));
    expect(BigInt(required.accepts[0].payTo)).toBe(BigInt(till.payee));
    expect(refused.content[1].text).toMatch(/^UNAUTHENTICATED: [\s\S]*POST http:\S+verify[\s\S]*Or pay for this answer/);
    expect(refused._meta[ERROR]).toMatchObject({ code: 'UNAUTHENTICATED', retryable: false, field: 'Authorization' });
    expect(refused.structuredContent).toEqual(name === '2026-07-28' ? required : undefined);
    const received = JSON.stringify(refused);
    for (const secret of [truth.salt, String(truth.confidence), String(truth.pUp)]) expect(received).not.toContain(secret);
    // The listing is a constant with a sample of an answer.
    expect(withoutListing(received)).not.toMatch(/"(BUY|SELL|UP|DOWN|HOLD)"/);
  });

  it('gets the public part and three ways to the rest without access, and no charge', async () => {
    const gated = await call(undefined, { arguments: {} });
    expect(gated.isError).toBeFalsy();
    expect(gated.structuredContent).toMatchObject({ signal: 'GATED', direction: null, pUp: null, predictionId: truth.predictionId });
    expect(gated.structuredContent.ways.map(({ way }: { way: string }) => way)).toEqual(['sign in', 'pay', 'wait']);
    expect(gated.content[0].text).toMatch(
      /^Size of the move over 7d: [\s\S]*To see it: sign in .* 500,000,000 .*, pay 0\.001 USD .*, or wait until/,
    );
    expect(JSON.stringify(gated)).not.toContain('accepts');
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });

  it('gets STEP_WAITING without a charge during the replay', async () => {
    const good = await payment();
    service.progress.replayAhead = true;
    onTestFinished(() => {
      service.progress.replayAhead = false;
    });
    for (const refused of [await call(), await call(good)]) {
      expect(refused.isError).toBe(true);
      expect(refused.content.at(-1).text).toMatch(/^STEP_WAITING: History is being replayed: pay when it is done/);
      expect(JSON.stringify(refused)).not.toContain('"accepts"');
    }
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });

  it('pays in version 2, and gets the answer of a token holder with a matching receipt', async () => {
    const bought = await call(await payment());
    expect(bought.isError, JSON.stringify(bought.content)).toBeFalsy();
    expect(lasting(bought.structuredContent)).toEqual(lasting(truth));
    // What was bought is whole in every form: its receipt has its hash.
    expect(bought.content).toEqual([{ type: 'text', text: expect.stringMatching(/^(BUY|SELL|HOLD) over 7d/m) }]);
    const { payment: paid, receipt } = bought._meta[RECEIPT];
    expect(bought._meta['x402/payment-response']).toEqual({
      ...{ success: true, network: 'eip155:84532' },
      ...{ transaction: paid.txHash, payer: buyer.account.address },
      extensions: { 'offer-receipt': { info: { receipt: expect.objectContaining({ format: 'eip712' }) }, schema: expect.anything() } },
    });
    expect(paid).toMatchObject({
      offering: 'x402:x402_signal',
      amount: '1000',
      usd: '0.001',
      ref: null,
      resource: `http://127.0.0.1:3000/mcp#${PREDICT}`,
    });
    expect(receipt.message).toMatchObject({
      ...{ amount: '1000', resource: paid.resource, txHash: paid.txHash },
      ...{ forecastId: truth.predictionId, attestationUid: truth.attestationUid },
    });
    expect(await isReceiptOf(receipt, bought.structuredContent)).toBe(true);
    expect(await isReceiptOf(receipt, { ...bought.structuredContent, signal: 'NONE' })).toBe(false);
    expect(await spentSince(buyer, before)).toEqual(PRICE);
    const inLedger = await service.http.commerce.ledger.payments.findOne({ txHash: paid.txHash });
    expect(inLedger).toMatchObject({ channel: 'x402', offering: 'x402_signal', payer: buyer.account.address.toLowerCase(), ref: null });
  });

  it('pays in version 1 with a referral code', async () => {
    const { accepts, resource } = await terms();
    const [{ network: _, amount, ...shared }] = accepts;
    const v1 = { ...shared, network: 'base-sepolia', maxAmountRequired: amount, resource: resource.url, description: '', mimeType: '' };
    const payload = await buyer.pay({ x402Version: 1, error: '', accepts: [v1] });
    expect(payload.x402Version).toBe(1);
    const ref = `Partner_${name.replaceAll(/\W/g, '')}`;
    const bought = await call(payload, { _meta: { 'bitcoin-signal-oracle/ref': ref } });
    expect(lasting(bought.structuredContent)).toEqual(lasting(truth));
    expect(await spentSince(buyer, before)).toEqual(PRICE);
    const txHash = bought._meta['x402/payment-response'].transaction;
    expect(await service.http.commerce.ledger.payments.findOne({ txHash })).toMatchObject({ ref: ref.toLowerCase() });
  });

  it('pays once for a repeated payment', async () => {
    const same = await payment();
    const answers = await Promise.all([call(same), call(same), call(same)]);
    answers.push(await call(same));
    for (const answer of answers) {
      expect(answer.structuredContent).toEqual(answers[0].structuredContent);
      expect(answer._meta[RECEIPT]).toEqual(answers[0]._meta[RECEIPT]);
    }
    expect(answers[0].isError).toBeFalsy();
    expect(await spentSince(buyer, before)).toEqual(PRICE);
    const other = await call(same, { arguments: { horizon: '2d' } });
    expect(other._meta[ERROR]).toMatchObject({ code: 'CONFLICT', field: 'payment' });
    expect(await spentSince(buyer, before)).toEqual(PRICE);
  });

  it('gets the reason of an invalid payment with the requirements, without a charge', async () => {
    const good = await payment();
    const { payload, accepted } = good;
    const { authorization } = payload;
    const faults: [unknown, string | RegExp][] = [
      ['not an object', 'invalid_payload'],
      [{}, 'invalid_payload'],
      [`0x${'7f'.repeat(32)}`, 'invalid_payload'],
      [{ ...good, payload: { transaction: `0x${'7f'.repeat(32)}` } }, 'invalid_payload'],
      [{ ...good, payload: { ...payload, signature: `0x${'0'.repeat(20_000)}` } }, 'invalid_payload'],
      [{ ...good, accepted: { ...accepted, amount: '1' } }, 'invalid_exact_evm_payload_authorization_value_mismatch'],
      [
        { ...good, payload: { ...payload, authorization: { ...authorization, value: '999' } } },
        'invalid_exact_evm_payload_authorization_value_mismatch',
      ],
      [{ ...good, accepted: { ...accepted, network: 'eip155:1' } }, 'invalid_network'],
      [{ ...good, payload: { ...payload, authorization: { ...authorization, nonce: `0x${'7'.repeat(64)}` } } }, /signature/],
    ];
    for (const [bad, reason] of faults) {
      const refused = await call(bad);
      expect(refused.isError).toBe(true);
      expect(requiredBy(refused)).toMatchObject({ x402Version: 2, accepts: [accepted], error: expect.stringMatching(reason) });
      expect(refused._meta[ERROR]).toMatchObject({ code: 'PAYMENT_REQUIRED', field: 'payment', retryable: false });
      expect(refused.content[1].text).toMatch(/^PAYMENT_REQUIRED: /);
      if (JSON.stringify(bad).includes('7f7f7f')) expect(refused.content[1].text).toMatch(/hash of a transaction.*EIP-3009/s);
      expect(refused.structuredContent).toEqual(name === '2026-07-28' ? requiredBy(refused) : undefined);
    }
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
    expect((await call(good)).isError).toBeFalsy();
  });

  it('is not charged for invalid input', async () => {
    const good = await payment();
    const wrongInput = await call(good, { arguments: { horizon: '9d' } });
    expect(wrongInput._meta[ERROR]).toMatchObject({ code: 'INPUT_INVALID', field: 'horizon' });
    for (const ref of ['-', 7, ['partner']]) {
      const refused = await call(good, { _meta: { 'bitcoin-signal-oracle/ref': ref } });
      expect(refused._meta[ERROR]).toMatchObject({ code: 'INPUT_INVALID', field: 'ref' });
    }
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });

  it('is not charged for free or included answers', async () => {
    const good = await payment();
    const free = await call(good, { name: 'get_track_record', arguments: {} });
    expect([free.isError ?? false, free._meta?.[RECEIPT]]).toEqual([false, undefined]);
    const holder = await MCP_CLIENTS[name](served.url, await asTier(service, 'basic'));
    const included = await holder.callTool({ name: PREDICT, arguments: { form: 'full' }, _meta: { 'x402/payment': good } } as never);
    expect(lasting(included.structuredContent)).toEqual(lasting(truth));
    expect(included._meta?.[RECEIPT]).toBeUndefined();
    await holder.close();
    expect(await spentSince(buyer, before)).toEqual(NOTHING);
  });
});

it('gets one answer for a batch of calls with one payment, paid once', async () => {
  const ask = (id: number, payment?: unknown) =>
    rpc(
      'tools/call',
      { name: PREDICT, arguments: { access: 'pay' }, ...(payment === undefined ? {} : { _meta: { 'x402/payment': payment } }) },
      id,
    );
  const [refused] = (await postMcp(served.url, ask(0))).messages;
  const payment = await buyer.pay(requiredBy(refused.result));
  const { messages } = await postMcp(served.url, [ask(1, payment), ask(2, payment), ask(3)]);
  const [first, second, third] = [1, 2, 3].map((id) => messages.find((message) => message.id === id).result);
  expect(first.structuredContent).toEqual(second.structuredContent);
  expect(lasting(first.structuredContent)).toEqual(lasting(truth));
  expect(third.isError).toBe(true);
  expect(await spentSince(buyer, before)).toEqual(PRICE);
});

it('gets payment requirements without the argument, where its capabilities name x402', async () => {
  const prefix = 'io.modelcontextprotocol/';
  const askWith = async (capabilities: object) => {
    const _meta = {
      [`${prefix}protocolVersion`]: '2026-07-28',
      [`${prefix}clientInfo`]: { name: 'payer', version: '1' },
      [`${prefix}clientCapabilities`]: capabilities,
    };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': PREDICT };
    const { messages } = await postMcp(served.url, rpc('tools/call', { name: PREDICT, arguments: {}, _meta }), headers);
    return messages[0].result;
  };
  expect(await askWith({ extensions: { 'org.x402/payment': {} } })).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } });
  expect((await askWith({})).isError).toBeUndefined();
});
