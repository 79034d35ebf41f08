import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { runDoctorCommand } from '../../../../src/cli/doctor.ts';
import { type Breakage, openBrokenEndpoint } from '../../../support/chain/broken-endpoint.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

let chain: TestChain;
let database: TestDatabase;
beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
});
afterEach(() => void vi.useRealTimers());
afterAll(() => Promise.all([chain.stop(), database.drop()]));

const NOBODY = `0x${'56'.repeat(20)}`;
const REFUSING = { PROVIDER_URLS: '*=http://127.0.0.1:9/{provider}', PUBLIC_URL: 'https://127.0.0.1:9' };

async function examine(rpcUrl: string, change: Record<string, string>) {
  const environment = {
    ...{ CHAIN_RPC_URL: rpcUrl, CHAIN_ID: String(chain.chainId), FEEDS: 'live', MONGODB_URI: database.uri, ...REFUSING },
    ATTESTER_PRIVATE_KEY: chain.keys.attester,
    REPORTER_PRIVATE_KEY: chain.keys.reporter,
    PROVIDER_PRIVATE_KEY: chain.keys.provider,
    FACILITATOR_PRIVATE_KEY: chain.keys.facilitator,
    PAYEE_ADDRESS: chain.accounts.stranger.address,
    SALT_SECRET: '9f86d081884c7d659a2feaa0c55ad015',
    ENCRYPTION_SECRET: '60303ae22b998861bce3b28f33eec1be',
    GATE_TOKEN_ADDRESS: chain.addresses.gateToken,
    STABLECOIN_ADDRESS: chain.addresses.stablecoin,
    IDENTITY_REGISTRY_ADDRESS: chain.addresses.identityRegistry,
    REPUTATION_REGISTRY_ADDRESS: chain.addresses.reputationRegistry,
    ...change,
  };
  let text = '';
  const code = await runDoctorCommand([], environment, { write: (part: string) => (text += part) } as never);
  return { code, text };
}

const isStale: Breakage = () => ({
  onResponse: ({ method }, result) => {
    const block = result as { timestamp: string };
    if (method !== 'eth_getBlockByNumber') return undefined;
    return { result: { ...block, timestamp: `0x${(Number(block.timestamp) - 3_600).toString(16)}` } };
  },
});
const hasNoLogs: Breakage = () => ({
  onRequest: ({ method }) => (method === 'eth_getLogs' ? { error: { code: -32_601, message: 'the method does not exist' } } : undefined),
});
/** Names that lead nowhere (RFC 2606). */
const noNetwork = () => ({
  ...{ CHAIN_RPC_URL: 'http://node.invalid', PUBLIC_URL: 'https://oracle.invalid', MONGODB_URI: 'mongodb://db.invalid/oracle' },
  PROVIDER_URLS: '*=http://{provider}.invalid',
});
const isClockFast = () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 3_600_000 });
  return {};
};

const intact: Breakage = () => ({});
it.each<[string, Breakage, () => Record<string, string>, RegExp]>([
  ['another chain id', intact, () => ({ CHAIN_ID: '8453' }), /Chain endpoint +CHAIN_ID is 8453, but the RPC endpoint serves chain 84532/],
  ['a registry without code', intact, () => ({ IDENTITY_REGISTRY_ADDRESS: NOBODY }), /Contracts +identity registry 0x(56)+ has no code/],
  [
    'another reputation registry',
    intact,
    () => ({ REPUTATION_REGISTRY_ADDRESS: NOBODY }),
    /Contracts +reputation registry 0x(56)+ belongs to the identity registry none/,
  ],
  ['a node that is behind', isStale, () => ({}), /Chain endpoint +block \d+ is 60 minutes old: the RPC endpoint is stalled/],
  ['a node without eth_getLogs', hasNoLogs, () => ({}), /Chain endpoint +Reading attestation events failed: .*eth_getLogs/],
  ['empty wallets', intact, () => ({ ATTESTER_PRIVATE_KEY: `0x${'9a'.repeat(32)}` }), /Wallets +too little ether: attester 0x\w+ has 0 /],
  ['no network', intact, noNetwork, /Network +this machine reaches no other/],
  ['no database', intact, () => ({ MONGODB_URI: 'mongodb://127.0.0.1:9/oracle' }), /Database +Connecting to the database failed/],
  ['a clock that is off', intact, isClockFast, /Clock +this machine is 10(800|799) s ahead of the database/],
  ['one key in two roles', intact, () => ({ REPORTER_PRIVATE_KEY: chain.keys.attester }), /Settings +REPORTER_PRIVATE_KEY: must not be/],
  ['another stablecoin', intact, () => ({ STABLECOIN_ADDRESS: chain.addresses.gateToken }), /Contracts +.*STABLECOIN_ADDRESS: .* in 0x/],
  ['another gate token', intact, () => ({ GATE_TOKEN_ADDRESS: NOBODY }), /Contracts +gate token 0x(56)+ is missing/],
])('begins with the cause of %s', async (_, breakage, change, expected) => {
  const proxy = await openBrokenEndpoint(chain.rpcUrl, breakage);
  await chain.mine();
  const { code, text } = await examine(proxy.url, change());
  await proxy.close();
  const [first] = text.split('\n');
  expect(first, text).toMatch(/^fail /);
  expect(first).toMatch(expected);
  expect(code).toBe(1);
  for (const name of ['Kraken', 'Bybit', 'Yahoo Finance']) expect(text.split(name).length, text).toBeLessThanOrEqual(2);
});

it('begins with the cause of a change to another chain with the database of the rehearsal', async () => {
  const rows = database.db.collection('transactions');
  const { insertedId } = await rows.insertOne({ chainId: 31_337, key: 'register', nonce: 0 });
  const { code, text } = await examine(chain.rpcUrl, {});
  await rows.deleteOne({ _id: insertedId });
  expect({ code, text }).toMatchObject({
    code: 1,
    text: expect.stringMatching(/^fail +Record and identity Setting MONGODB_URI: this database holds/),
  });
});
