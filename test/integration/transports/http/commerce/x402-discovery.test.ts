import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../../skills/index.ts';
import { formatAmount, PAID_RESOURCES } from '../../../../../src/commerce/offerings.ts';
import { createReceiptSigner } from '../../../../../src/commerce/receipts.ts';
import { X402_RESOURCES } from '../../../../../src/http/routes/paid.ts';
import { X402_DOCUMENT } from '../../../../../src/http/schemas/payment.ts';
import { readHeader } from '../../../../support/commerce/payments.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

const PUBLIC_URL = 'https://oracle.test/base/';
const BASE = 'https://oracle.test/base';
const PAYEE = '0x00000000000000000000000000000000000000cc';

// biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
type Body = any;

let service: TestService;
let served: Served;
let document: Body;

beforeAll(async () => {
  service = await testService(0, { PUBLIC_URL, PAYEE_ADDRESS: PAYEE });
  served = await serve(service);
  document = await json('/.well-known/x402.json');
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

async function json(path: string): Promise<Body> {
  const response = await fetch(served.url + path);
  expect(response.status, path).toBe(200);
  return response.json();
}

const SOLD_SKILLS = SKILLS.flatMap(({ id, offering }) =>
  offering === null ? [] : [{ method: 'POST', path: `${ENDPOINTS.skills}/${id}`, offering }],
);
/** Entries of paid operations; the others are skills. */
const operations = (): Body[] => document.resources.filter(({ method }: Body) => method === 'GET');

/** Where a URL under the public address is here. */
const here = (url: string) => {
  expect(url).toMatch(new RegExp(`^${BASE}/[^/]`));
  return served.url + url.slice(BASE.length);
};

describe('/.well-known/x402.json', () => {
  it('lists every paid operation with its table price and schema', () => {
    expect(undocumented(X402_DOCUMENT, document)).toEqual([]);
    expect(
      document.resources.map(({ offering, method, resource, price }: Body) => [offering, method, resource, price.usd, price.amount]),
    ).toEqual(
      [...PAID_RESOURCES.map((offering) => ({ ...offering.resource, offering })), ...SOLD_SKILLS].map(({ method, path, offering }) => [
        `${offering.channel}:${offering.name}`,
        method,
        `${BASE}${path}`,
        formatAmount(offering.price),
        offering.price.amount.toString(),
      ]),
    );
    expect(document).toMatchObject({ payee: PAYEE, chain: 'eip155:84532', network: 'base-sepolia', x402Versions: [1, 2] });
    expect(document.facilitator).toEqual({ kind: 'in-process', url: null });
    expect(document.asset).toMatchObject({ address: service.http.chain.addresses.stablecoin, decimals: 6 });
  });

  it('has the requirements of the operations, in both versions', async () => {
    for (const { resource, method, accepts, v1 } of document.resources) {
      const response = await fetch(here(resource), { method });
      expect(response.status).toBe(402);
      expect(readHeader(response.headers.get('PAYMENT-REQUIRED')).accepts).toEqual(accepts);
      const { resource: asked, ...terms } = ((await response.json()) as Body).accepts[0];
      const { resource: listed, ...discovered } = v1.accepts[0];
      expect(discovered).toEqual(terms);
      expect([asked, listed]).toEqual([method === 'GET' ? `${resource}?horizon=7d` : resource, resource]);
    }
  });

  it('describes the query as the operations accept it', async () => {
    for (const { resource, input } of operations()) {
      const { properties } = input;
      expect(properties.horizon).toMatchObject({ enum: ['1d', '2d', '3d', '7d', '1', '2', '3', '7'], default: '7d' });
      for (const horizon of properties.horizon.enum) expect((await fetch(here(`${resource}?horizon=${horizon}`))).status).toBe(402);
      expect(new RegExp(properties.ref.pattern).test('partner-1')).toBe(true);
      expect((await fetch(here(`${resource}?horizon=4d`))).status).toBe(400);
    }
  });

  it('describes the input of a skill as its operation accepts it', async () => {
    const [{ resource, input }] = document.resources.filter(({ method }: Body) => method === 'POST');
    const post = (body: object) =>
      fetch(here(resource), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    for (const horizon of input.properties.horizon.enum) expect((await post({ horizon })).status).toBe(402);
    expect((await post({ horizon: '4d' })).status).toBe(400);
  });

  it.each([
    ['2d', '2d', '2-day'],
    ['1', '1d', '1-day'],
    ['7', '7d', '7-day'],
  ])('requirements for horizon=%s name that horizon in resource and description', async (horizon, name, adjective) => {
    for (const { resource } of operations()) {
      const response = await fetch(here(`${resource}?horizon=${horizon}`));
      const required = readHeader(response.headers.get('PAYMENT-REQUIRED'));
      const body = (await response.json()) as Body;
      for (const described of [required.resource, { ...body.accepts[0], url: body.accepts[0].resource }]) {
        expect(described.url).toBe(`${resource}?horizon=${name}`);
        expect(described.description.match(/\d-day/g)).toEqual([adjective]);
      }
      expect(
        JSON.stringify(body)
          .match(/\d-day/g)!
          .every((one) => one === adjective),
      ).toBe(true);
    }
  });

  it('describes the receipt signature in use', async () => {
    const account = { address: document.receipt.signer, signTypedData: async () => '0x' };
    const sign = createReceiptSigner(account as never, 84532);
    const zero = `0x${'0'.repeat(64)}` as const;
    const receipt = await sign({
      ...{ payer: PAYEE, payee: PAYEE, asset: PAYEE, amountMicros: 1n, resource: '', answerHash: zero, forecastId: null },
      ...{ attestationUid: null, txHash: zero, settledAt: new Date(0) },
    });
    expect(document.receipt).toMatchObject({ domain: receipt.domain, types: receipt.types, primaryType: receipt.primaryType });
    expect(document.receipt.signer).toBe(service.http.commerce.receiptSigner);
  });

  it('names served URLs', async () => {
    for (const url of [document.docs, document.offerings, document.a2a.card]) expect((await fetch(here(url))).status, url).toBe(200);
    for (const url of [document.again.url, document.mcp.url])
      expect([400, 415, 406], url).toContain((await fetch(here(url), { method: 'POST' })).status);
    expect(document.again).toMatchObject({ message: 'Fetch svc answer: <txHash in lower case>:<timestamp>', days: 30 });
  });

  it('names an external facilitator', async () => {
    const url = 'https://facilitator.example/x402';
    const elsewhere = await serve({ ...service, http: { ...service.http, commerce: { ...service.http.commerce, facilitatorUrl: url } } });
    const discovered = (await (await fetch(`${elsewhere.url}/.well-known/x402.json`)).json()) as Body;
    await elsewhere.close();
    expect(discovered.facilitator).toEqual({ kind: 'external', url });
  });
});

describe('other x402 documents', () => {
  it('list the same URLs, each of which returns 402', async () => {
    const list = await json('/.well-known/x402');
    expect(undocumented(X402_RESOURCES, list)).toEqual([]);
    expect(list).toMatchObject({ version: 1, resources: document.resources.map(({ resource }: Body) => resource) });
  });

  it('mark the operations in OpenAPI with price and 402', async () => {
    const { paths, components } = await json('/.well-known/openapi.json');
    const marked = Object.values<Body>(paths).flatMap((item) => Object.values<Body>(item).filter((one) => one['x-payment-info']));
    const sold = [
      ...PAID_RESOURCES.map(({ resource, price }) => ({ operation: paths[resource.path].get, price })),
      ...SOLD_SKILLS.map(({ path, offering: { price } }) => ({ operation: paths[path].post, price })),
    ];
    expect(marked).toHaveLength(sold.length);
    for (const { operation, price } of sold) {
      expect(operation['x-payment-info']).toEqual({
        price: { mode: 'fixed', currency: 'USD', amount: formatAmount(price) },
        protocols: [{ x402: {} }],
      });
      const terms = components.responses[operation.responses[402].$ref.split('/').at(-1)];
      expect(Object.keys(terms.headers)).toContain('PAYMENT-REQUIRED');
      expect(Object.keys(operation.responses[200].headers)).toEqual(expect.arrayContaining(['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE']));
    }
    const headers = Object.values<Body>(components.parameters).filter(({ in: place }) => place === 'header');
    expect(headers.map(({ name }) => name)).toEqual(['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment']);
  });

  it('name them with prices in agent documents and the root list', async () => {
    const [llms, skill] = await Promise.all(['/llms.txt', '/SKILL.md'].map(async (path) => (await fetch(served.url + path)).text()));
    const urls = (await json('/')).resources.map(({ url }: Body) => url);
    for (const { resource, price } of PAID_RESOURCES) {
      for (const text of [llms, skill]) expect(text).toContain(resource.path);
      expect(llms).toContain(`${formatAmount(price)} USD by x402`);
      expect(skill).toContain(`${formatAmount(price)} USD`);
      expect(urls.some((url: string) => url.endsWith(resource.path))).toBe(true);
    }
    expect(llms).toContain(`${BASE}/.well-known/x402.json`);
  });

  it('show working example requests in the offerings', async () => {
    const { offerings } = await json('/api/svc/commerce/offerings?channel=x402');
    for (const { example } of offerings) {
      const [, path] = /^GET (\S+),/.exec(example)!;
      expect((await fetch(served.url + path)).status).toBe(402);
    }
  });
});
