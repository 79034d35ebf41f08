import { randomUUID } from 'node:crypto';
import { x402HTTPClient } from '@x402/core/client';
import { parseSignature, recoverTypedDataAddress, serializeCompactSignature, signatureToCompactSignature, verifyTypedData } from 'viem';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findSkill } from '../../../../../skills/runner.ts';
import { computeCommitment, DIRECTION_CODES, decodeCode, SIGNAL_CODES } from '../../../../../src/chain/eas/schemas.ts';
import { toOfferTypedData } from '../../../../../src/commerce/receipt-signer.ts';
import { hashDocument } from '../../../../../src/commerce/receipts.ts';
import { type PaymentRequirements, X402_ERROR_CODES } from '../../../../../src/commerce/x402/terms.ts';
import { PAYMENT_PROBLEM } from '../../../../../src/http/openapi/document.ts';
import { PAID_PREMIUM_SIGNAL, PAID_SIGNAL } from '../../../../../src/http/routes/paid.ts';
import { buildSkillReplySchema } from '../../../../../src/http/routes/skills.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { asTier, demoWallets } from '../../../../support/auth/login.ts';
import { asHeader, inV1, officialClient, payingFetch, readHeader, stablecoins, withSignal } from '../../../../support/commerce/payments.ts';
import { type Signing, signPayment } from '../../../../support/commerce/x402.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

interface Answer {
  status: number;
  headers: Headers;
  body: Body;
}

const PRICES = { '/oracle': 1_000n, '/oracle/premium': 10_000n } as const;
const HERE = '198.51.100.1';
const ELSEWHERE = '198.51.100.2';

let service: TestService;
let served: Served;
let balance: ReturnType<typeof stablecoins>;

beforeAll(async () => {
  service = await unresolvedService(3);
  service.progress.complete();
  served = await serve({ http: service.http, appOptions: { ...service.appOptions, trustProxy: 1 } }, allRoutes(service.http));
  balance = stablecoins(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const buyer = () => demoWallets(service).buyer;
const payee = () => service.http.commerce.merchant.payee;

interface AskOptions {
  from?: string;
  at?: Served;
  method?: string;
  json?: object;
}

async function ask(path: string, headers: Record<string, string> = {}, options: AskOptions = {}): Promise<Answer> {
  const { from = HERE, at = served, method = 'GET', json } = options;
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  const type = json === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(at.url + path, { method, headers: { 'X-Forwarded-For': from, ...type, ...headers }, ...body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** The terms of a path, as a client of version 2 reads them. */
async function termsOf(path: string): Promise<PaymentRequirements> {
  return readHeader((await ask(path)).headers.get('PAYMENT-REQUIRED')).accepts[0];
}

async function signed(path: string, change: Partial<Omit<Signing, 'requirements'>> = {}) {
  return signPayment({ account: buyer(), requirements: await termsOf(path), ...change });
}

const pay = (path: string, payment: unknown, options = {}) => ask(path, { 'PAYMENT-SIGNATURE': asHeader(payment) }, options);

/** Units that arrive while something is done. */
async function received(work: () => Promise<unknown>): Promise<bigint> {
  const before = await balance(payee());
  await work();
  return (await balance(payee())) - before;
}

describe('the official x402 version 2 client', () => {
  it.each([
    ['/oracle', '7d'],
    ['/oracle', '3d'],
    ['/oracle', '2d'],
    ['/oracle/premium', '7d'],
    ['/oracle/premium', '3d'],
    ['/oracle/premium', '2d'],
  ] as const)('pays %s for %s in one call', async (path, horizon) => {
    const before = await balance(buyer().address);
    const response = await payingFetch(buyer())(`${served.url}${path}?horizon=${horizon}`);
    const body = (await response.json()) as Body;
    expect(response.status, JSON.stringify(body)).toBe(200);
    expect(undocumented(path === '/oracle' ? PAID_SIGNAL : PAID_PREMIUM_SIGNAL, body)).toEqual([]);
    expect(body).toMatchObject({
      success: true,
      horizon,
      signal: expect.stringMatching(/^(BUY|SELL|HOLD)$/),
      access: { tier: 'public', wallet: null },
      payment: { payer: buyer().address, amount: PRICES[path].toString(), chain: 'eip155:84532' },
    });
    expect(readHeader(response.headers.get('PAYMENT-RESPONSE'))).toMatchObject({
      success: true,
      transaction: body.payment.txHash,
      network: 'eip155:84532',
      payer: body.payment.payer,
      amount: PRICES[path].toString(),
    });
    expect(response.headers.get('X-PAYMENT-RESPONSE')).toBeNull();
    expect(response.headers.get('Cache-Control')).toContain('no-store');
    expect(before - (await balance(buyer().address))).toBe(PRICES[path]);
  });
});

describe('a version 1 payment', () => {
  it.each(['/oracle', '/oracle/premium'])('is accepted in X-PAYMENT on %s, and settles in version 1', async (path) => {
    const { status, headers, body } = await ask(path, { 'X-PAYMENT': asHeader(inV1(await signed(path))) });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(readHeader(headers.get('X-PAYMENT-RESPONSE'))).toEqual({
      ...{ success: true, transaction: body.payment.txHash, network: 'base-sepolia', payer: buyer().address },
      extensions: { 'offer-receipt': { info: { receipt: expect.objectContaining({ format: 'eip712' }) }, schema: expect.anything() } },
    });
    expect(headers.get('PAYMENT-RESPONSE')).toBeNull();
  });

  it.each([
    ['1', inV1],
    ['2', (payment: Parameters<typeof inV1>[0]) => payment],
  ] as const)('or one of version %s is accepted in X-402-Payment, and settles in both', async (_, form) => {
    const { status, headers, body } = await ask('/oracle', { 'X-402-Payment': asHeader(form(await signed('/oracle'))) });
    expect(status, JSON.stringify(body)).toBe(200);
    for (const name of ['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'])
      expect(readHeader(headers.get(name)), name).toMatchObject({ success: true, transaction: body.payment.txHash });
  });
});

describe('during the replay of history', () => {
  const purchase = { offering: 'svc_daily_macro_review', txHash: `0x${'12'.repeat(32)}`, wallet: `0x${'34'.repeat(20)}` };
  const waiting = { status: 503, body: { code: 'STEP_WAITING', detail: 'History is being replayed: pay when it is done' } };

  it('every payment channel is closed and charges nothing', async () => {
    const payment = await signed('/oracle', { change: { validAfter: '0' } });
    const arrived = await received(async () => {
      service.progress.replayAhead = true;
      onTestFinished(() => {
        service.progress.replayAhead = false;
      });
      for (const answer of [
        await ask('/oracle'),
        await ask('/oracle/premium?horizon=3d'),
        await pay('/oracle', payment),
        await pay('/oracle', 'no payment'),
        await ask('/api/svc/commerce/jobs/1'),
      ]) {
        expect(answer).toMatchObject(waiting);
        expect(answer.headers.get('Retry-After')).toBe('10');
        expect(answer.headers.get('PAYMENT-REQUIRED')).toBeNull();
      }
      const bought = await fetch(`${served.url}/api/svc/commerce/purchase`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(purchase),
      });
      expect({ status: bought.status, body: await bought.json() }).toMatchObject(waiting);
    });
    expect(arrived).toBe(0n);
    service.progress.replayAhead = false;
    expect(await received(async () => expect((await pay('/oracle', payment)).status).toBe(200))).toBe(PRICES['/oracle']);
  });
});

describe('without a payment', () => {
  it.each(['/oracle', '/oracle/premium'] as const)(
    '%s returns the requirements with amount, recipient, chain, validity and links',
    async (path) => {
      const { status, headers, body } = await ask(`${path}?horizon=3d`);
      const { asset, domain, publicUrl } = service.http.commerce.merchant;
      expect(status).toBe(402);
      expect(headers.get('content-type')).toContain('application/problem+json');
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(undocumented(PAYMENT_PROBLEM, body)).toEqual([]);
      const resource = `${publicUrl}${path}?horizon=3d`;
      const terms = { scheme: 'exact', asset: expect.stringMatching(new RegExp(asset, 'i')), extra: domain, maxTimeoutSeconds: 300 };
      expect(body).toMatchObject({
        ...{
          success: false,
          code: 'PAYMENT_REQUIRED',
          retryable: false,
          x402Version: 1,
          error: 'payment_required',
        },
        accepts: [
          { ...terms, network: 'base-sepolia', maxAmountRequired: PRICES[path].toString(), resource, mimeType: 'application/json' },
        ],
        payment: {
          ...{
            amount: PRICES[path].toString(),
            assetName: domain.name,
            chain: 'eip155:84532',
            network: 'base-sepolia',
            validForSeconds: 300,
            resource,
          },
          ...{
            usd: path === '/oracle' ? '0.001' : '0.01',
            docs: `${publicUrl}/SKILL.md#or-pay-for-a-single-answer`,
            reference: `${publicUrl}/docs`,
            realMoney: false,
            terms: `${publicUrl}/.well-known/x402.json`,
          },
        },
      });
      expect(body.payment.payTo.toLowerCase()).toBe(payee().toLowerCase());
      expect(readHeader(headers.get('PAYMENT-REQUIRED'))).toMatchObject({
        ...{ x402Version: 2, error: 'payment_required', resource: { url: resource, mimeType: 'application/json' } },
        accepts: [{ ...terms, network: 'eip155:84532', amount: PRICES[path].toString() }],
      });
    },
  );

  it('the 402 is the same for any forecast and any token', async () => {
    const buySignal = async (signal: 'BUY' | 'HOLD') => withSignal(service, signal, async () => (await ask('/oracle')).body);
    expect(await buySignal('HOLD')).toEqual(await buySignal('BUY'));
    const { status } = await ask('/oracle', { Authorization: 'Bearer whatever' });
    expect(status).toBe(402);
  });

  it('HEAD charges nothing, even with a payment', async () => {
    const payment = await signed('/oracle');
    expect(await received(async () => expect((await pay('/oracle', payment, { method: 'HEAD' })).status).toBe(402))).toBe(0n);
    expect((await pay('/oracle', payment)).status).toBe(200);
  });

  it('an invalid query is rejected first', async () => {
    for (const [query, field] of [
      ['horizon=4d', 'horizon'],
      ['ref=x', 'ref'],
    ]) {
      expect(await ask(`/oracle?${query}`)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID', field } });
    }
  });
});

describe('an invalid payment', () => {
  const seconds = () => Math.floor(Date.now() / 1_000);
  const WRONG: [string, string | RegExp, () => Promise<Record<string, string>>][] = [
    [
      'another amount',
      'invalid_exact_evm_payload_authorization_value_mismatch',
      async () => header(await signed('/oracle', { change: { value: '999' } })),
    ],
    [
      'another payee',
      'invalid_exact_evm_payload_recipient_mismatch',
      async () => header(await signed('/oracle', { change: { to: `0x${'12'.repeat(20)}` } })),
    ],
    ['another token', /signature/, async () => header(await signed('/oracle', { change: { asset: `0x${'34'.repeat(20)}` } }))],
    ['another chain', /signature/, async () => header(await signed('/oracle', { change: { chainId: '1' } }))],
    [
      'another chain, said so',
      'invalid_network',
      async () => header({ ...(await signed('/oracle')), accepted: { ...(await termsOf('/oracle')), network: 'eip155:1' } }),
    ],
    [
      'another token, said so',
      'invalid_payment_requirements',
      async () => header({ ...(await signed('/oracle')), accepted: { ...(await termsOf('/oracle')), asset: `0x${'34'.repeat(20)}` } }),
    ],
    [
      'expired',
      'invalid_exact_evm_payload_authorization_valid_before',
      async () => header(await signed('/oracle', { change: { validBefore: String(seconds() - 1) } })),
    ],
    [
      'not yet valid',
      'invalid_exact_evm_payload_authorization_valid_after',
      async () => header(await signed('/oracle', { change: { validAfter: String(seconds() + 600) } })),
    ],
    ['no money', 'insufficient_funds', async () => header(await signed('/oracle', { account: demoWallets(service).poor }))],
    [
      'the price of something cheaper',
      'invalid_exact_evm_payload_authorization_value_mismatch',
      async () => header(await signed('/oracle/premium')),
    ],
    ['no base64', 'invalid_payload', async () => ({ 'X-402-Payment': 'not base64!' })],
    ['no JSON', 'invalid_payload', async () => ({ 'X-PAYMENT': Buffer.from('{').toString('base64') })],
    ['another version', 'invalid_x402_version', async () => ({ 'PAYMENT-SIGNATURE': asHeader({ x402Version: 3 }) })],
    ['no payment', 'invalid_payload', async () => ({ 'PAYMENT-SIGNATURE': asHeader({ x402Version: 2 }) })],
    ['null', 'invalid_payload', async () => ({ 'PAYMENT-SIGNATURE': asHeader(null) })],
    [
      'two different ones',
      'invalid_payload',
      async () => ({ ...header(await signed('/oracle')), 'X-PAYMENT': asHeader(inV1(await signed('/oracle'))) }),
    ],
  ];
  const header = (payment: unknown) => ({ 'PAYMENT-SIGNATURE': asHeader(payment) });

  it.each(WRONG)('is rejected with the requirements and a code, and not charged: %s', async (_, reason, headersOf) => {
    const headers = await headersOf();
    let answer: Answer | undefined;
    const arrived = await received(async () => {
      answer = await ask('/oracle', headers);
    });
    const { status, body, headers: buySignal } = answer!;
    expect([status, body.code, body.field]).toEqual([402, 'PAYMENT_REQUIRED', 'payment']);
    expect(X402_ERROR_CODES).toContain(body.error);
    expect(body.error).toMatch(reason instanceof RegExp ? reason : new RegExp(`^${reason}$`));
    expect(readHeader(buySignal.get('PAYMENT-REQUIRED'))).toMatchObject({ error: body.error, accepts: [{ amount: '1000' }] });
    expect(body).not.toHaveProperty('signal');
    expect(arrived).toBe(0n);
  });

  const HASH = `0x${'7f'.repeat(32)}`;

  it.each<[string, Record<string, string>]>([
    ['in X-402-Payment', { 'X-402-Payment': HASH }],
    ['in X-PAYMENT', { 'X-PAYMENT': HASH }],
    ['in PAYMENT-SIGNATURE, in upper case', { 'PAYMENT-SIGNATURE': HASH.replace('7f', '7F') }],
    ['without 0x', { 'X-402-Payment': HASH.slice(2) }],
    ['in all of them', { 'X-402-Payment': HASH, 'X-PAYMENT': HASH, 'PAYMENT-SIGNATURE': HASH }],
    ['as JSON', { 'X-402-Payment': JSON.stringify({ txHash: HASH }) }],
    ['as JSON in base64', { 'X-PAYMENT': asHeader({ transactionHash: HASH, network: 'base' }) }],
    ['in a payload', header({ x402Version: 1, scheme: 'exact', network: 'base', payload: { transaction: HASH } })],
  ])('is no transaction hash, which is answered with what to send instead: %s', async (_, headers) => {
    const { status, body, headers: answered } = await ask('/oracle', headers);
    expect([status, body.code, body.field, body.error]).toEqual([402, 'PAYMENT_REQUIRED', 'payment', 'invalid_payload']);
    expect(body.detail).toMatch(/hash of a transaction/);
    for (const named of ['PAYMENT-SIGNATURE', 'base64', 'EIP-3009', 'PAYMENT-REQUIRED', '/api/svc/commerce/purchase', 'txHash'])
      expect(body.suggestedAction).toContain(named);
    expect(readHeader(answered.get('PAYMENT-REQUIRED')).accepts).toHaveLength(1);
  });

  it('that cannot be read is answered with what to send', async () => {
    for (const headers of [{ 'X-402-Payment': 'paid' }, header({ x402Version: 2 }), header({})]) {
      const { body } = await ask('/oracle', headers);
      expect(body.suggestedAction).toContain('EIP-3009');
    }
  });

  it('signed in the compact form (EIP-2098) is accepted and charged', async () => {
    const payment = await signed('/oracle');
    const signature = serializeCompactSignature(signatureToCompactSignature(parseSignature(payment.payload.signature)));
    const arrived = await received(async () => {
      const { status, body } = await ask('/oracle', header({ ...payment, payload: { ...payment.payload, signature } }));
      expect([status, body.payment?.payer ?? body.code]).toEqual([200, buyer().address]);
    });
    expect(arrived).toBe(PRICES['/oracle']);
  });

  it('is not one that is sent in both headers', async () => {
    const payment = asHeader(await signed('/oracle'));
    expect((await ask('/oracle', { 'PAYMENT-SIGNATURE': payment, 'X-402-Payment': payment })).status).toBe(200);
  });
});

describe('a repeated payment', () => {
  it('returns the same answer to the same address, is charged once, and is no proof elsewhere', async () => {
    const payment = await signed('/oracle');
    const answers: Answer[] = [];
    const arrived = await received(async () => {
      for (let times = 0; times < 3; times++) answers.push(await pay('/oracle', payment));
    });
    expect(arrived).toBe(PRICES['/oracle']);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect(answers[2]!.headers.get('PAYMENT-RESPONSE')).toBe(answers[0]!.headers.get('PAYMENT-RESPONSE'));
    const stranger = await pay('/oracle', payment, { from: ELSEWHERE });
    expect(stranger).toMatchObject({ status: 402, body: { error: 'invalid_transaction_state', reason: 'payment_used' } });
    expect(stranger.body).not.toHaveProperty('signal');
  });

  it('with an identifier returns it to any address; the identifier with another payment conflicts', async () => {
    const paymentId = randomUUID();
    const payment = await namedPayment('/oracle', paymentId);
    const first = await pay('/oracle', payment);
    const again = await pay('/oracle', payment, { from: ELSEWHERE });
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body).toEqual(first.body);
    const other = await pay('/oracle', await signed('/oracle', { paymentId }));
    expect(other).toMatchObject({ status: 409, body: { code: 'CONFLICT', field: 'payment-identifier' } });
  });

  it('is valid for its original query only', async () => {
    const payment = await signed('/oracle');
    expect((await pay('/oracle?horizon=3d', payment)).body.horizon).toBe('3d');
    expect(await pay('/oracle?horizon=2d', payment)).toMatchObject({ status: 409, body: { code: 'CONFLICT', field: 'payment' } });
  });
});

/** A payment of the official client with an identifier; test/conformance has it set by the official extension. */
async function namedPayment(path: string, paymentId: string) {
  const terms = readHeader((await ask(path)).headers.get('PAYMENT-REQUIRED'));
  terms.extensions['payment-identifier'].info.id = paymentId;
  return officialClient(buyer()).createPaymentPayload(terms);
}

describe('an operation of a tier', () => {
  it.each([
    ['GET', '/api/svc/oracle', 'Or pay 0.001 USD for a single answer, without an account: GET /oracle?horizon=7d.'],
    ['GET', '/api/svc/oracle/premium', 'Or pay 0.01 USD for a single answer, without an account: GET /oracle/premium?horizon=7d.'],
  ])('names the price of a single answer: %s %s', async (method, path, otherwise) => {
    const { status, body } = await ask(path, {}, { method, from: ELSEWHERE });
    expect([status, body.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(body.suggestedAction).toContain('POST /api/svc/oracle/verify');
    expect(body.suggestedAction.endsWith(otherwise), body.suggestedAction).toBe(true);
  });

  it('names no price where none is sold', async () => {
    expect((await ask('/api/svc/regime', {}, { from: ELSEWHERE })).body.suggestedAction).toMatch(/<token>\.$/);
  });
});

describe('a skill', () => {
  const PATH = '/api/svc/skills/predict_btc_direction';
  const post = (headers: Record<string, string> = {}, options = {}) => ask(PATH, headers, { method: 'POST', ...options });
  const payment = async () =>
    signPayment({ account: buyer(), requirements: readHeader((await post()).headers.get('PAYMENT-REQUIRED')).accepts[0] });

  it('returns the terms of /oracle in both versions, with its own resource', async () => {
    const { status, headers, body } = await post();
    expect(status).toBe(402);
    expect(undocumented(PAYMENT_PROBLEM, body)).toEqual([]);
    const resource = `${service.http.commerce.merchant.publicUrl}${PATH}`;
    expect(readHeader(headers.get('PAYMENT-REQUIRED'))).toMatchObject({ resource: { url: resource }, accepts: [await termsOf('/oracle')] });
    expect(body).toMatchObject({ error: 'payment_required', accepts: [{ resource, maxAmountRequired: '1000', network: 'base-sepolia' }] });
  });

  it.each([
    ['PAYMENT-SIGNATURE', 'version 2', asHeader, ['PAYMENT-RESPONSE']],
    ['X-PAYMENT', 'version 1', (paid: Parameters<typeof inV1>[0]) => asHeader(inV1(paid)), ['X-PAYMENT-RESPONSE']],
    ['X-402-Payment', 'version 2', asHeader, ['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE']],
  ] as const)('is paid in %s of %s, and settles in the headers of that version', async (name, _, form, settlements) => {
    const sent = form(await payment());
    const { status, headers, body } = await post({ [name]: sent });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(undocumented(buildSkillReplySchema(findSkill('predict_btc_direction')), body)).toEqual([]);
    expect(body).toMatchObject({ payment: { offering: 'x402:x402_signal', amount: '1000' } });
    expect(body.receipt.message.answerHash).toBe(hashDocument(body.output));
    for (const settlement of settlements)
      expect(readHeader(headers.get(settlement))).toMatchObject({ success: true, transaction: body.payment.txHash });
  });

  it('sells the premium answer for its own price', async () => {
    const json = { detail: 'premium' };
    const [requirements] = readHeader((await post({}, { json })).headers.get('PAYMENT-REQUIRED')).accepts;
    expect(requirements).toMatchObject(await termsOf('/oracle/premium'));
    const paid = await signPayment({ account: buyer(), requirements });
    const { status, body } = await post({ 'PAYMENT-SIGNATURE': asHeader(paid) }, { json });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ output: { quantiles: expect.any(Array), model: expect.any(Object) }, payment: { amount: '10000' } });
    // It buys no answer of another price.
    expect((await post({ 'PAYMENT-SIGNATURE': asHeader(paid) })).body).toMatchObject({ code: 'PAYMENT_REQUIRED', field: 'payment' });
  });

  it('answers what is public without a payment, and takes none for it', async () => {
    const json = { detail: 'public' };
    const free = await post({}, { json });
    expect([free.status, free.body.output.signal, free.body.output.range.share]).toEqual([200, 'GATED', 0.8]);
    const paid = await payment();
    const arrived = await received(async () => {
      const { status, body } = await post({ 'PAYMENT-SIGNATURE': asHeader(paid) }, { json });
      expect([status, body.code, body.field]).toEqual([400, 'INPUT_INVALID', 'payment']);
    });
    expect(arrived).toBe(0n);
  });

  it('is charged and complete for a HOLD, as for any other signal', async () => {
    const sold = async (signal: 'HOLD' | 'BUY') => {
      const paid = await payment();
      let answer: Answer | undefined;
      const arrived = await received(async () => {
        answer = await withSignal(service, signal, () => post({ 'PAYMENT-SIGNATURE': asHeader(paid) }));
      });
      return { ...answer!, arrived };
    };
    const [hold, buy] = [await sold('HOLD'), await sold('BUY')];
    expect([hold.arrived, buy.arrived]).toEqual([PRICES['/oracle'], PRICES['/oracle']]);
    expect(hold.body).toMatchObject({ output: { ...COMPLETE, signal: 'HOLD' }, payment: { amount: '1000' } });
    expect(Object.keys(hold.body.output)).toEqual(Object.keys(buy.body.output));
    expect(readHeader(hold.headers.get('PAYMENT-RESPONSE'))).toMatchObject({ success: true, transaction: hold.body.payment.txHash });
  });

  it('is sold to a client with a rejected token that pays', async () => {
    const answer = await post({ Authorization: 'Bearer expired', 'PAYMENT-SIGNATURE': asHeader(await payment()) });
    expect(answer).toMatchObject({ status: 200, body: { payment: { amount: '1000' } } });
  });

  it('is not charged to a token holder with a payment', async () => {
    const headers = { ...(await asTier(service, 'basic')), 'PAYMENT-SIGNATURE': asHeader(await payment()) };
    expect(await received(async () => expect((await post(headers)).body).not.toHaveProperty('payment'))).toBe(0n);
  });
});

const COMPLETE = {
  direction: expect.stringMatching(/^(UP|DOWN)$/),
  confidence: expect.any(Number),
  pUp: expect.any(Number),
  salt: expect.stringMatching(/^0x/),
  opening: expect.any(Object),
};

describe.each(['/oracle', '/oracle/premium'] as const)('a HOLD at %s', (path) => {
  it('is charged and complete, with the fields and headers of any other signal', async () => {
    const sold = async (signal: 'HOLD' | 'BUY' | 'SELL') => {
      const payment = await signed(path);
      let answer: Answer | undefined;
      const arrived = await received(async () => {
        answer = await withSignal(service, signal, () => pay(path, payment));
      });
      const { status, body, headers } = answer!;
      const settlement = readHeader(headers.get('PAYMENT-RESPONSE'));
      expect(settlement).toMatchObject({ success: true, transaction: body.payment.txHash });
      return { status, body, arrived, fields: Object.keys(body), headers: [...headers.keys()].toSorted() };
    };
    const [hold, ...others] = [await sold('HOLD'), await sold('BUY'), await sold('SELL')];
    expect(hold).toMatchObject({ status: 200, arrived: PRICES[path], body: { ...COMPLETE, signal: 'HOLD' } });
    expect(hold.body.receipt.message.answerHash).toBe(hashDocument(omitSale(hold.body)));
    for (const { status, arrived, fields, headers } of others)
      expect({ status, arrived, fields, headers }).toEqual({
        status: 200,
        arrived: PRICES[path],
        fields: hold.fields,
        headers: hold.headers,
      });
  });

  it.each(['HOLD', 'BUY'] as const)('its settlement is read by the official client, as of a %s', async (signal) => {
    const paid = asHeader(await signed(path));
    const { status, body, headers } = await withSignal(service, signal, () => ask(path, { 'PAYMENT-SIGNATURE': paid }));
    const settlement = new x402HTTPClient(officialClient(buyer())).getPaymentSettleResponse((name) => headers.get(name));
    expect([status, body.signal, settlement.success, settlement.transaction]).toEqual([200, signal, true, body.payment.txHash]);
  });
});

function omitSale({ payment: _, receipt: __, ...answer }: Record<string, unknown>) {
  return answer;
}

describe('a sold answer', () => {
  it.each(['/oracle', '/oracle/premium'])('is bound by its receipt to the commitment on chain: %s', async (path) => {
    const { body } = await pay(path, await signed(path));
    const { payment, receipt, ...answer } = body;
    const { message, ...typed } = receipt;
    const asSigned = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
    expect(await verifyTypedData({ ...typed, address: service.http.commerce.receiptSigner, message: asSigned })).toBe(true);
    expect(message.answerHash).toBe(hashDocument(answer));
    expect(message).toMatchObject({
      ...{ forecastId: answer.predictionId, attestationUid: answer.attestationUid, txHash: payment.txHash, resource: payment.resource },
      amount: payment.amount,
    });
    const onChain = await service.http.attestations.read(message.attestationUid);
    const { salt, signal, direction, ...numbers } = answer.opening;
    const opened = computeCommitment({
      ...{ salt, ...numbers },
      signal: decodeCode('signal', SIGNAL_CODES, signal),
      direction: decodeCode('direction', DIRECTION_CODES, direction),
    });
    expect(onChain!.decoded.find(({ name }) => name === 'commitment')!.value).toBe(opened);
    expect(onChain!.attester).toBe(service.http.wallets.attester.address);
    expect([decodeCode('signal', SIGNAL_CODES, signal), numbers.pUpBps]).toEqual([answer.signal, Math.round(answer.pUp * 10_000)]);
  });

  it('is redelivered to the paying wallet only', async () => {
    const { body } = await pay('/oracle/premium', await signed('/oracle/premium'));
    const { txHash } = body.payment;
    expect(await fetchAgain(txHash)).toEqual({ status: 200, body });
    expect(await fetchAgain(txHash.toUpperCase().replace('0X', '0x'))).toEqual({ status: 200, body });
    expect(await fetchAgain(txHash, { account: demoWallets(service).poor })).toMatchObject({ status: 404, body: { field: 'txHash' } });
    expect(await fetchAgain(`0x${'0'.repeat(64)}`)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await fetchAgain(txHash, { wallet: demoWallets(service).poor.address })).toMatchObject({
      status: 401,
      body: { field: 'signature' },
    });
    expect(await fetchAgain(txHash, { signedAt: Date.now() - 1 })).toMatchObject({ status: 401, body: { field: 'signature' } });
    const late = Date.now() - 6 * 60_000;
    expect(await fetchAgain(txHash, { timestamp: late, signedAt: late })).toMatchObject({ status: 401, body: { field: 'timestamp' } });
  });

  it('is in the ledger, the revenue and the partner figures', async () => {
    const before = (await ask('/api/svc/revenue')).body;
    const { body } = await pay('/oracle?ref=Partner-9', await signed('/oracle'));
    expect(body.payment.amount).toBe('1000');
    const after = (await ask('/api/svc/revenue')).body;
    expect(BigInt(after.usdMicros) - BigInt(before.usdMicros)).toBe(1_000n);
    expect(await balance(payee())).toBe(BigInt(after.usdMicros));
    expect(after.byOffering.find(({ id }: Body) => id === 'x402:x402_signal').payments).toBeGreaterThan(0);
    expect((await ask('/api/refs/stats?ref=partner-9')).body).toMatchObject({ paidCalls: 1, payers: 1, revenue: { usdMicros: '1000' } });
  });
});

interface Again {
  account?: ReturnType<typeof buyer>;
  wallet?: string;
  timestamp?: number;
  signedAt?: number;
}

async function fetchAgain(txHash: string, { account = buyer(), wallet = account.address, timestamp = Date.now(), signedAt }: Again = {}) {
  const message = `Fetch svc answer: ${txHash.toLowerCase()}:${signedAt ?? timestamp}`;
  const response = await fetch(`${served.url}/api/svc/commerce/answers`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ txHash, wallet, timestamp, signature: await account.signMessage({ message }) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

describe('the terms of a 402', () => {
  it('are signed once for many requests, by the signer of receipts, and take less than 8 kB of headers', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/oracle?horizon=3d')));
    const headers = answers.map(({ headers }) => headers.get('PAYMENT-REQUIRED')!);
    const required = headers.map(readHeader);
    const offers = new Set(required.map(({ extensions }) => JSON.stringify(extensions['offer-receipt'].info.offers)));
    expect(offers.size).toBe(1);
    const [{ payload, signature }] = required[0].extensions['offer-receipt'].info.offers;
    const { scheme, network, asset, payTo, amount } = required[0].accepts[0];
    expect(payload).toMatchObject({ resourceUrl: required[0].resource.url, scheme, network, asset, payTo, amount });
    expect(await recoverTypedDataAddress({ ...toOfferTypedData(payload), signature })).toBe(service.http.commerce.receiptSigner);
    expect(required[0].extensions).not.toHaveProperty('sign-in-with-x');
    expect(headers[0]!.length).toBeLessThan(8_000);
  });
});

describe('pages of other sites', () => {
  it('may send payments and read the requirements', async () => {
    const preflight = await fetch(`${served.url}/oracle`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://app.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'payment-signature',
      },
    });
    const allowed = preflight.headers.get('Access-Control-Allow-Headers')!;
    for (const name of ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment']) expect(allowed).toContain(name);
    const exposed = (await ask('/oracle', { Origin: 'https://app.example' })).headers.get('Access-Control-Expose-Headers')!;
    for (const name of ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE']) expect(exposed).toContain(name);
  });
});
