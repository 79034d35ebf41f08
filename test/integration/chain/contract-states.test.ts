import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Chain } from '../../../src/chain/client.ts';
import { readContractStates } from '../../../src/chain/contracts.ts';
import { createAttester } from '../../../src/chain/eas/eas.ts';
import { ensureIdentity } from '../../../src/chain/erc8004.ts';
import { openJournal } from '../../../src/chain/journal.ts';
import { createWallet } from '../../../src/chain/wallet.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { rpcProxy } from '../../support/chain/rpc-proxy.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

let local: TestChain;
let database: TestDatabase;
let chain: Chain;
let agentId: number;

beforeAll(async () => {
  [local, database] = await Promise.all([testChain(), testDatabase()]);
  chain = await local.connect();
  const journal = await openJournal(database.db);
  const wallet = createWallet({ chain, journal, role: 'attester', account: local.accounts.attester, signal: new AbortController().signal });
  ({ agentId } = await ensureIdentity(chain, { agentUri: 'http://agent.example/registration.json', wallet }));
  expect(await statesOf(chain)).toMatchObject({ schemaRegistry: { value: { schemas: [{ registered: false }, { registered: false }] } } });
  await createAttester(chain, wallet).ensureSchemas();
});
afterAll(async () => {
  await local?.stop();
  await database?.drop();
});

const statesOf = (of: Chain, limitMs?: number) =>
  readContractStates(of, { agentId, reporter: local.accounts.reporter.address, timeoutMs: limitMs });
const stateNames = (states: Awaited<ReturnType<typeof statesOf>>) =>
  Object.entries(states).map(([name, observed]) => `${name}: ${observed?.state}`);

it('returns the value of each live contract', async () => {
  const { eas, schemaRegistry, identityRegistry, reputationRegistry, gateToken, stablecoin, agentCommerce } = await statesOf(chain);
  expect(eas).toEqual({ state: 'live', reason: null, value: { version: expect.stringMatching(/^1\.\d+\.\d+/) } });
  expect(schemaRegistry.value!.schemas.map(({ name, registered }) => [name, registered])).toEqual([
    ['prediction', true],
    ['resolution', true],
  ]);
  expect(identityRegistry.value).toEqual({ owner: local.accounts.attester.address, agentUri: 'http://agent.example/registration.json' });
  expect(reputationRegistry.value).toEqual({ feedback: 0, reporter: local.accounts.reporter.address });
  expect(gateToken?.value).toMatchObject({ decimals: 18 });
  expect(agentCommerce!.value).toEqual({ paymentToken: local.addresses.stablecoin });
  expect(stablecoin.value).toMatchObject({ symbol: expect.stringMatching(/\w/), decimals: 6 });
});

it('reports a missing contract beside the live ones', async () => {
  const nobody = local.accounts.stranger.address;
  const misled = await local.connect({ addresses: { ...local.addresses, gateToken: nobody, eas: nobody } });
  const states = await statesOf(misled);
  expect(states.gateToken).toMatchObject({ state: 'missing', value: null, reason: expect.stringContaining('gate token') });
  expect(stateNames(states)).toEqual([
    'eas: missing',
    'schemaRegistry: live',
    'identityRegistry: live',
    'reputationRegistry: live',
    'gateToken: missing',
    'stablecoin: live',
    'agentCommerce: live',
  ]);
});

it('returns null for a contract that is not configured', async () => {
  const without = await local.connect({ addresses: { ...local.addresses, agentCommerce: null } });
  expect((await statesOf(without)).agentCommerce).toBeNull();
});

it.each([
  ['breaks connections', async () => 'drop' as const],
  ['never answers', () => new Promise<never>(() => undefined)],
])('reports every contract of a chain that %s as unreachable, within the timeout', async (_, onRequest) => {
  const proxy = await rpcProxy(local.rpcUrl);
  const cutOff = await local.connect({ rpcUrl: proxy.url });
  proxy.hooks.onRequest = onRequest;
  const states = await statesOf(cutOff, 500);
  expect(new Set(Object.values(states).map((observed) => observed?.state))).toEqual(new Set(['unreachable']));
  for (const { reason, value } of Object.values(states).map((observed) => observed!)) {
    expect(value).toBeNull();
    expect(reason).toMatch(/\w/);
    expect(reason).not.toContain(proxy.url);
  }
  await proxy.close();
});
