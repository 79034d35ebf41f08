import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allRoutes, declaredRoutes } from '../../../../../src/http/routes.ts';
import { createApp } from '../../../../../src/http/server.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { OWN_PATHS, pathsIn, SPEC_PATHS, type SpecPath } from '../../../../support/http/spec-paths.ts';
import { describeWithShared, sharedPath } from '../../../../support/record/shared.ts';
import { OPERATOR } from '../../../../support/service/operator.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

const PATHS = [...SPEC_PATHS, ...OWN_PATHS];

let service: TestService;
let served: Served;
// biome-ignore lint/suspicious/noExplicitAny: the document is what is tested
let document: any;

beforeAll(async () => {
  service = await testService(0, OPERATOR);
  served = await serve(service);
  document = await (await fetch(`${served.url}/.well-known/openapi.json`)).json();
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

const line = ({ method, path }: { method: string; path: string }) => `${method.toUpperCase()} ${path}`;
const sample = (path: string) => path.replaceAll(/\{\w+\}/g, 'sample');

function documented(): string[] {
  return Object.entries<object>(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => line({ method, path })));
}

it('the document covers the interface and the additions, and nothing else', () => {
  expect(documented().toSorted()).toEqual(PATHS.map(line).toSorted());
});

it('the router has the same paths', () => {
  const { stack } = createApp(allRoutes(service.http), service.appOptions).router;
  const paths = stack.flatMap(({ route }) => (route === undefined ? [] : [route.path.replaceAll(/:(\w+)/g, '{$1}')]));
  expect([...new Set(paths)].toSorted()).toEqual([...new Set(PATHS.map(({ path }) => path))].toSorted());
});

it.each(PATHS.map((entry): [string, SpecPath] => [line(entry), entry]))('%s is served', async (_, { method, path }) => {
  const response = await fetch(served.url + sample(path), { method: method.toUpperCase() });
  expect(response.status).not.toBe(405);
  expect(await response.text()).not.toContain('Nothing is served at this path');
});

const routes = declaredRoutes();

/** How the document says what a tier has to send. */
const SECURITY: Record<SpecPath['tier'], object[]> = {
  public: [{}, { walletToken: [] }],
  basic: [{ walletToken: [] }],
  premium: [{ walletToken: [] }],
  admin: [{ operator: [] }],
  // Directories of x402 read a required scheme as a second condition beside the payment.
  paid: [],
};
/** What cannot send headers proves in its URL who it is. */
const OF_WEBSOCKETS = [{ webSocketToken: [] }, { webSocketTicket: [] }];
/** A login, or a signature for this request. */
const OF_THE_OWNER = [{ walletToken: [] }];

it.each(PATHS.map((entry): [string, SpecPath] => [line(entry), entry]))('%s requires its tier', (_, { method, path, tier }) => {
  const { security, responses, description } = document.paths[path][method];
  const { variesByCaller, isSold, ownerOnly } = routes.find((one) => one.method === method && one.path === path)!;
  const ofTier = tier === 'public' && ownerOnly === true ? OF_THE_OWNER : SECURITY[tier];
  const asked = path === '/ws/signal' ? [...ofTier, ...OF_WEBSOCKETS] : ofTier;
  const orPaid = isSold === true ? [{}] : [];
  expect(security).toEqual(tier === 'public' && variesByCaller !== true && ownerOnly !== true ? [] : [...orPaid, ...asked]);
  expect(Object.keys(responses).includes('402')).toBe(isSold === true || tier === 'paid' || path === '/api/svc/commerce/purchase');
  const named = security.flatMap((requirement: object) => Object.keys(requirement));
  expect(Object.keys(document.components.securitySchemes)).toEqual(expect.arrayContaining(named));
  if (tier === 'basic' || tier === 'premium') expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403']));
  if (tier === 'premium') expect(description).toContain('Premium');
});

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

it('no path answers a method that the document does not list', async () => {
  const answered: string[] = [];
  for (const [path, item] of Object.entries<object>(document.paths)) {
    const listed = Object.keys(item);
    // Paths of the operator are disclosed to the operator alone.
    if (path.startsWith('/admin/')) continue;
    for (const method of METHODS.filter((one) => !listed.includes(one))) {
      const response = await fetch(served.url + sample(path), { method: method.toUpperCase() });
      await response.body?.cancel();
      const allowed = response.headers
        .get('allow')
        ?.toLowerCase()
        .split(', ')
        .filter((one) => one !== 'head');
      if (response.status !== 405 || allowed?.join() !== listed.join())
        answered.push(`${line({ method, path })}: ${response.status}, ${allowed}`);
    }
  }
  expect(answered).toEqual([]);
});

it('every operation has a unique name', () => {
  const names = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  expect(new Set(names).size).toBe(names.length);
});

describeWithShared('section 4 of the interface', () => {
  it('docs/API.md and the router have the same paths', async () => {
    const text = await readFile(sharedPath('spec', 'interface-spec.md'), 'utf8');
    const section = text.slice(text.indexOf('## 4. Endpoints'), text.indexOf('## 5. '));
    const listed = new Set(pathsIn(section).map(line));
    expect(listed.size).toBeGreaterThan(60);
    expect([...listed].toSorted()).toEqual(SPEC_PATHS.map(line).toSorted());
  });
});
