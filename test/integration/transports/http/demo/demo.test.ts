import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findOffering } from '../../../../../src/commerce/offerings.ts';
import { createDemoWallets } from '../../../../../src/dev/demo.ts';
import { DEMO_PAYMENT_REPLY } from '../../../../../src/http/routes/demo.ts';
import { PAID_SIGNAL } from '../../../../../src/http/routes/paid.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { INFO } from '../../../../../src/http/schemas/info.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { asHeader, stablecoins, withSignal } from '../../../../support/commerce/payments.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

let service: TestService;
let served: Served;
let onRealChain: Served;
const logged: string[] = [];

beforeAll(async () => {
  service = await unresolvedService(1);
  service.progress.complete();
  const log = createLog({ level: 'debug', secrets: [], write: (line) => logged.push(line) });
  const appOptions = { ...service.appOptions, log };
  served = await serve({ ...service, appOptions });
  const http = { ...service.http, demo: null };
  onRealChain = await serve({ http, appOptions }, allRoutes(http));
});
afterAll(async () => {
  await served?.close();
  await onRealChain?.close();
  await service?.stop();
});

async function post(path: string, body: object, { headers = {}, at = served }: { headers?: Record<string, string>; at?: Served } = {}) {
  const response = await fetch(at.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as any };
}

const logIn = (role: string, headers?: Record<string, string>) => post('/api/demo/login', { role }, { headers });
const sign = (horizon = '7d') => post('/api/demo/payment', { offering: 'x402_signal', horizon });

describe('login of a demo wallet', () => {
  it.each(['basic', 'premium'])('returns a session of the %s tier that any operation accepts', async (role) => {
    const { status, body } = await logIn(role);
    expect(status).toBe(200);
    expect(body).toMatchObject({ tier: role, wallet: service.http.demo?.addresses[role as 'basic'] });
    const answer = await fetch(`${served.url}/api/svc/oracle`, { headers: { Authorization: `Bearer ${body.token}` } });
    expect(answer.status).toBe(200);
  });

  it('opens a session for each of several logins at once', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => logIn('basic')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.token)).size).toBe(4);
  });

  it.each(['buyer', 'poor', 'attester', '__proto__', ''])('rejects the role "%s"', async (role) => {
    const { status, body } = await logIn(role);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'INPUT_INVALID', field: 'role' });
  });
});

describe('requests of other pages', () => {
  it.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://elsewhere.example' },
    { Origin: 'null' },
  ])('are rejected: %j', async (headers) => {
    for (const [path, body] of [
      ['/api/demo/login', { role: 'premium' }],
      ['/api/demo/payment', { offering: 'x402_signal' }],
    ] as const) {
      const answer = await post(path, body, { headers });
      expect(answer.status).toBe(401);
      expect(answer.text).not.toMatch(/token"|signature"/);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('are accepted from the page of the service', async () => {
    expect((await logIn('basic', { 'Sec-Fetch-Site': 'same-origin', Origin: served.url })).status).toBe(200);
    expect((await logIn('basic', { Origin: served.url })).status).toBe(200);
  });
});

describe('a payment of the demo buyer', () => {
  it('buys one answer, once, under the terms of the service', async () => {
    await withSignal(service, 'BUY', async () => {
      const { status, body } = await sign();
      expect(status).toBe(200);
      expect(DEMO_PAYMENT_REPLY.strict().parse(body)).toEqual(body);
      const { payTo, amount } = body.payment.accepted;
      expect(body.payment.payload.authorization).toMatchObject({ to: payTo, value: amount, from: service.http.demo?.addresses.buyer });
      expect(payTo).toBe(service.http.commerce.merchant.payee);
      const balance = stablecoins(service);
      const before = await balance(payTo);
      const pay = () => fetch(`${served.url}/oracle?horizon=7d`, { headers: { 'PAYMENT-SIGNATURE': asHeader(body.payment) } });
      const bought = await (await pay()).json();
      expect(PAID_SIGNAL.parse(bought)).toMatchObject({ payment: { payer: service.http.demo?.addresses.buyer } });
      expect(await (await pay()).json()).toEqual(bought);
      expect((await balance(payTo)) - before).toBe(BigInt(amount));
    });
  });

  it.each([
    { offering: 'svc_alpha_brief' },
    { offering: 'x402_signal', horizon: '9d' },
    { offering: 'x402_signal', payTo: `0x${'11'.repeat(20)}` },
    { offering: 'x402_signal', amount: '900000000' },
  ])('is not signed for %j', async (body) => {
    expect((await post('/api/demo/payment', body)).status).toBe(400);
  });

  it('is limited by a budget of 1 USD a day', async () => {
    let nowMs = service.http.now().getTime();
    const demo = createDemoWallets({
      wallets: service.infrastructure.demo!.wallets,
      access: service.http.access,
      now: () => new Date(nowMs),
    });
    const offering = { name: 'x402_premium_signal', channel: 'x402' } as const;
    const resource = { url: 'https://oracle.example/oracle/premium?horizon=7d', description: '', mimeType: 'application/json' };
    const quote = await service.http.commerce.sales.getQuote({ offering: findOffering(offering.channel, offering.name)!, resource });
    for (let count = 0; count < 100; count++) await demo.authorize(quote);
    await expect(demo.authorize(quote)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 86_400 });
    nowMs += 86_400_001;
    await expect(demo.authorize(quote)).resolves.toBeDefined();
  });
});

describe('a service on a real chain', () => {
  it('has no demo operations and announces none', async () => {
    for (const path of ['/api/demo/login', '/api/demo/payment']) {
      expect((await post(path, { role: 'premium' }, { at: onRealChain })).status).toBe(404);
    }
    const text = await (await fetch(`${onRealChain.url}/.well-known/openapi.json`)).text();
    expect(text).not.toContain('/api/demo');
    expect(await (await fetch(`${onRealChain.url}/api/svc/info`)).json()).toMatchObject({ demo: null });
  });
});

it('is announced by info with the addresses alone', async () => {
  const info = INFO.parse(await (await fetch(`${served.url}/api/svc/info`)).json());
  expect(info.demo?.wallets).toEqual(Object.entries(service.http.demo!.addresses).map(([role, address]) => ({ role, address })));
  expect(info.chain).toMatchObject({ local: true, explorerUrl: null });
});

it('shows no key, and logs no key, token or signature', async () => {
  const answers = [await logIn('premium'), await sign(), await logIn('poor')];
  const keys = Object.values(service.infrastructure.demo!.wallets).map(({ privateKey }) => privateKey.slice(2));
  const text = logged.join('\n');
  expect(text).toContain('/api/demo/login');
  for (const key of keys) for (const output of [text, ...answers.map((one) => one.text)]) expect(output).not.toContain(key);
  expect(text).not.toContain(answers[0]!.body.token);
  expect(text).not.toContain(answers[1]!.body.payment.payload.signature);
});
