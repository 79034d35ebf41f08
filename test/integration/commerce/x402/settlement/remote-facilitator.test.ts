import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../../src/chain/client.ts';
import { declareHttpResource } from '../../../../../src/commerce/x402/bazaar.ts';
import { createRemoteFacilitator, createResourceServer } from '../../../../../src/commerce/x402/facilitator.ts';
import type { PaymentRequirements } from '../../../../../src/commerce/x402/terms.ts';
import { type ParsedPayment, parsePaymentPayload } from '../../../../../src/commerce/x402/terms.ts';
import { getLocalWalletFactory } from '../../../../../src/dev/local-chain/contracts.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { type TestChain, testChain } from '../../../../support/chain/chain.ts';
import { smartWallet } from '../../../../support/chain/smart-wallet.ts';
import { signPayment, type TillBench, tillBench } from '../../../../support/commerce/x402.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';

let chain: TestChain;
let database: TestDatabase;
let connected: Chain;
let bench: TillBench;
/** What it answers at `/supported`. */
let supported: object = { kinds: [] };
let server: Server;
let url: string;
/** Bodies of the requests to the facilitator, by operation. */
let received: Record<string, { paymentPayload: Record<string, unknown> }> = {};
/** What the facilitator answers instead of the truth, by operation. */
let instead: Partial<Record<'/verify' | '/settle', { status: number; body: string; first?: boolean }>> = {};

/** A facilitator as the protocol has it (`/verify`, `/settle`), over the one of this process. */
async function answer(
  path: '/verify' | '/settle',
  body: { paymentPayload: unknown; paymentRequirements: PaymentRequirements },
): Promise<object> {
  const terms = await bench.sales.getQuote(bench.call(null));
  const payment: ParsedPayment = parsePaymentPayload(await createResourceServer(bench.merchant), body.paymentPayload, terms);
  const payer = Promise.resolve({ wallet: payment.authorization.from, isProven: true });
  const operation = path === '/verify' ? bench.facilitator.verify : bench.facilitator.settle;
  return operation({ ...payment, payer, address: '192.0.2.1' }, body.paymentRequirements);
}

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
  connected = await chain.connect();
  const deployments = { factories: [getLocalWalletFactory()], maxPerDay: 100 };
  bench = await tillBench({ chain, db: database.db, connected, deployments });
  server = createServer(async (request, response) => {
    if (request.url === '/supported') return void response.end(JSON.stringify(supported));
    const path = request.url as '/verify' | '/settle';
    const body = (await json(request)) as Parameters<typeof answer>[1];
    received[path] = body as { paymentPayload: Record<string, unknown> };
    const other = instead[path];
    const truth = other === undefined || other.first === true ? JSON.stringify(await answer(path, body)) : '';
    response.writeHead(other?.status ?? 200, { 'content-type': 'application/json' }).end(other?.body ?? truth);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await Promise.all([chain.stop(), database.drop()]);
});

const pay = () => signPayment({ account: bench.buyer, requirements: bench.requirements });
const remote = (to = url, log = createLog({ level: 'silent', secrets: [] })) =>
  createRemoteFacilitator({ endpoint: { url: to }, chain: connected, log, now: () => new Date() });
const balance = () => bench.balance(bench.requirements.payTo as `0x${string}`);

describe('a remote facilitator', () => {
  it('verifies and settles, and the chain confirms it', async () => {
    instead = {};
    const before = await balance();
    const sales = await bench.another({ facilitator: remote() });
    expect((await sales.sell(bench.call(await pay()))).payment).toMatchObject({ amountMicros: 1_000n });
    expect((await balance()) - before).toBe(1_000n);
  });

  it('gets the listing of the resource with both requests, of this service and not of the client', async () => {
    instead = {};
    received = {};
    const sales = await bench.another({ facilitator: remote() });
    const bazaar = declareHttpResource({ example: {}, schema: { type: 'object' } }, { example: {}, schema: { type: 'object' } });
    const forged = { bazaar: { info: { input: { type: 'http', method: 'GET' } }, schema: {} } };
    const call = { ...bench.call({ ...(await pay()), extensions: forged, resource: { url: 'https://elsewhere.example.org/' } }), bazaar };
    await sales.sell(call);
    for (const path of ['/verify', '/settle']) {
      const { resource, extensions } = received[path]!.paymentPayload;
      const { description, ...named } = call.resource;
      expect({ resource, extensions }).toMatchObject({ resource: named, extensions: { bazaar } });
      expect((resource as typeof call.resource).description).toContain(description);
    }
  });

  it.each(['/verify', '/settle'] as const)(
    'refuses the API key at %s: the payer retries once it is replaced and has paid once',
    async (path) => {
      const before = await balance();
      const lines: string[] = [];
      const log = createLog({ level: 'warn', secrets: [], write: (line) => lines.push(line) });
      const sales = await bench.another({ facilitator: remote(url, log) });
      const payment = await pay();
      instead = { [path]: { status: 401, body: '{"errorType":"unauthorized"}' } };
      await expect(sales.sell(bench.call(payment))).rejects.toMatchObject({ code: 'TRANSACTION_UNCONFIRMED', retryable: true });
      expect(await balance()).toBe(before);
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { reason: expect.stringMatching(/the facilitator: asks for a key.*status 401/), msg: 'a payment could not be checked or sent' },
      ]);
      instead = {};
      expect((await sales.sell(bench.call(payment))).payment).toMatchObject({ amountMicros: 1_000n });
      expect((await balance()) - before).toBe(1_000n);
    },
  );

  it('rejects with its own reason', async () => {
    instead = { '/verify': { status: 400, body: JSON.stringify({ isValid: false, invalidReason: 'insufficient_funds' }) } };
    const sales = await bench.another({ facilitator: remote() });
    await expect(sales.sell(bench.call(await pay()))).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason: 'insufficient_funds' });
  });

  it('is not trusted when it reports a settlement that is not on chain', async () => {
    const body = JSON.stringify({ success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:84532' });
    instead = { '/settle': { status: 200, body } };
    const sales = await bench.another({ facilitator: remote(), waitMs: 200 });
    await expect(sales.sell(bench.call(await pay()))).rejects.toMatchObject({ code: 'TRANSACTION_UNCONFIRMED' });
  });

  const LOST = [
    { status: 500, body: 'upstream timed out' },
    { status: 200, body: '{"success":' },
    {
      status: 200,
      body: JSON.stringify({ success: false, errorReason: 'transaction_receipt_timeout', transaction: '', network: 'eip155:84532' }),
    },
    ...['invalid_exact_evm_transaction_failed', 'invalid_transaction_state', 'invalid_exact_evm_nonce_already_used'].map((errorReason) => ({
      status: 200,
      body: JSON.stringify({ success: false, errorReason, transaction: '', network: 'eip155:84532' }),
    })),
    { status: 504, body: JSON.stringify({ success: false, errorReason: 'x', transaction: '', network: 'eip155:84532' }) },
  ];
  for (const lost of LOST) {
    it(`loses its response (${lost.status} ${lost.body.slice(0, 80)}) after settling: the payer retries and has paid once`, async () => {
      const before = await balance();
      const sales = await bench.another({ facilitator: remote() });
      const payment = await pay();
      instead = { '/settle': { ...lost, first: true } };
      await expect(sales.sell(bench.call(payment))).rejects.toMatchObject({ code: 'TRANSACTION_UNCONFIRMED' });
      instead = { '/settle': { status: 500, body: 'must not be asked again' } };
      expect((await sales.sell(bench.call(payment))).payment).toMatchObject({ amountMicros: 1_000n });
      expect((await balance()) - before).toBe(1_000n);
    });
  }

  it('is reported as unavailable when it is down', async () => {
    const sales = await bench.another({ facilitator: remote('http://127.0.0.1:9') });
    await expect(sales.sell(bench.call(await pay()))).rejects.toMatchObject({ code: 'TRANSACTION_UNCONFIRMED', retryable: true });
  });
});

describe('a payment of a wallet that is not deployed, with a remote facilitator', () => {
  const KIND = { x402Version: 2, scheme: 'exact', network: 'eip155:84532' };
  const factories = { eip6492AllowedFactories: [getLocalWalletFactory()] };

  async function payerOf() {
    instead = {};
    const owner = privateKeyToAccount(generatePrivateKey());
    const { address, wrap } = await smartWallet(connected.client, owner.address);
    await bench.mint(address, 2_000n);
    const payment = await signPayment({ account: owner, requirements: bench.requirements, change: { from: address } });
    payment.payload.signature = wrap(payment.payload.signature);
    return { payment, sales: await bench.another({ facilitator: remote() }) };
  }

  it.each([
    ['nothing of it', { kinds: [KIND] }],
    ['no factory', { kinds: [{ ...KIND, extra: { eip6492AllowedFactories: [] } }] }],
    ['factories of another chain', { kinds: [KIND, { ...KIND, network: 'eip155:8453', extra: factories }] }],
  ])('is refused where /supported has %s', async (_, answer) => {
    supported = answer;
    const { payment, sales } = await payerOf();
    const before = await balance();
    await expect(sales.sell(bench.call(payment))).rejects.toMatchObject({
      code: 'PAYMENT_REQUIRED',
      reason: 'eip6492_unsupported_by_facilitator',
      x402Code: 'invalid_exact_evm_payload_signature',
    });
    expect(await balance()).toBe(before);
  });

  it.each([
    ['factories', { kinds: [{ ...KIND, extra: factories }] }],
    ['the extension', { kinds: [KIND], extensions: ['eip6492'] }],
  ])('is forwarded where /supported has %s', async (_, answer) => {
    supported = answer;
    const { payment, sales } = await payerOf();
    expect((await sales.sell(bench.call(payment))).payment).toMatchObject({ amountMicros: 1_000n });
  });
});
