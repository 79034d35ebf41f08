import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serve } from '../../support/http/serve.ts';
import { type TestService, testService } from '../../support/service/service.ts';

interface Advisory {
  method: string;
  authMode?: string;
  estimatedPrice?: string;
  protocols?: string[];
  inputSchema?: object;
  outputSchema?: object;
  paymentOptions?: { protocol: string; version: number; network: string; amount: string }[];
}

interface Discovered {
  found: boolean;
  source: string;
  info: { title: string; contactEmail?: string };
  endpoints: { path: string; method: string; authMode?: string; price?: string; protocols?: string[] }[];
}

interface Warning {
  code: string;
  severity: 'error' | 'warn' | 'info';
  message: string;
}

/** The code by which the largest directory of x402 resources registers a service. */
interface Discovery {
  discoverOriginSchema(options: { target: string }): Promise<Discovered>;
  checkEndpointSchema(options: { url: string; probe: boolean }): Promise<{ found: boolean; advisories: Advisory[] }>;
  getOpenAPI(origin: string): Promise<{ value: object }>;
  getWarningsForOpenAPI(document: object): Warning[];
  getWarningsForL3(advisory: Advisory): Warning[];
  getWarningsForFavicon(origin: string): Promise<{ value: Warning[] }>;
}

// Not imported, because the type checker runs without the packages of this folder.
const discovery = createRequire(import.meta.url)('@agentcash/discovery') as Discovery;

const PAID = [
  { method: 'GET', path: '/oracle', price: '0.001', amount: '1000' },
  { method: 'GET', path: '/oracle/premium', price: '0.01', amount: '10000' },
  { method: 'POST', path: '/api/svc/skills/predict_btc_direction', price: '0.001', amount: '1000' },
] as const;

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(0, { CONTACT: 'operator@oracle.test' });
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const check = async ({ method, path }: { method: string; path: string }, probe: boolean) => {
  const { found, advisories } = await discovery.checkEndpointSchema({ url: served.url + path, probe });
  expect(found, path).toBe(true);
  return advisories.find((advisory) => advisory.method === method)!;
};

describe('the directory', () => {
  it('discovers the service, its contact and the paid operations with their prices', async () => {
    const { found, source, info, endpoints } = await discovery.discoverOriginSchema({ target: served.url });
    expect({ found, source, info }).toMatchObject({ found: true, source: 'openapi', info: { contactEmail: 'operator@oracle.test' } });
    const paid = endpoints.filter(({ authMode = '' }) => authMode.includes('paid'));
    expect(paid.map(({ method, path, authMode, price, protocols }) => ({ method, path, authMode, price, protocols }))).toEqual(
      expect.arrayContaining(
        PAID.map(({ method, path, price }) => ({ method, path, authMode: 'paid', price: `${price} USD`, protocols: ['x402'] })),
      ),
    );
    expect(paid).toHaveLength(PAID.length);
  });

  it('has no warning about the document and the icon', async () => {
    expect(discovery.getWarningsForOpenAPI((await discovery.getOpenAPI(served.url)).value)).toEqual([]);
    expect((await discovery.getWarningsForFavicon(served.url)).value).toEqual([]);
  });

  it.each(PAID)('reads $method $path as paid in the document', async (operation) => {
    const advisory = await check(operation, false);
    expect(advisory).toMatchObject({ authMode: 'paid', estimatedPrice: `${operation.price} USD`, protocols: ['x402'] });
    expect(discovery.getWarningsForL3(advisory)).toEqual([]);
  });

  it.each(PAID)('reads $method $path as paid, at its price in version 2, in the live probe', async (operation) => {
    const advisory = await check(operation, true);
    expect(advisory).toMatchObject({
      authMode: 'paid',
      paymentOptions: [{ protocol: 'x402', version: 2, network: 'eip155:84532', amount: operation.amount }],
    });
    expect(discovery.getWarningsForL3(advisory)).toEqual([]);
  });
});
