import { createHash } from 'node:crypto';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { documentText } from '../../support/docs/documents.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { startLiveHost } from '../../support/market/live-host.ts';
import type { ProviderHost } from '../../support/market/provider-host.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';
import { spawnNode } from '../../support/service/service.ts';
import { startWeb3Signer, type TestWeb3Signer } from '../../support/signers/web3signer.ts';

let chain: TestChain;
let host: ProviderHost;
let signer: TestWeb3Signer;
let database: TestDatabase;
let folder: string;
let running: RunningService | undefined;

beforeAll(async () => {
  [chain, host, database] = await Promise.all([testChain(), startLiveHost(), testDatabase()]);
  signer = await startWeb3Signer([chain.keys.attester, chain.keys.provider], chain.chainId);
  folder = await mkdtemp(join(tmpdir(), 'oracle-operate-'));
});
afterAll(async () => {
  running?.child.kill('SIGTERM');
  await running?.ended;
  await Promise.all([chain.stop(), host.close(), signer.close(), database.drop()]);
  await removeFolder(folder);
});

/** As if it were random. */
const secretOf = (name: string) => createHash('sha256').update(name).digest('hex');

/** The settings of the document, on an own node at a loopback address. */
function settings(): Record<string, string> {
  const [, example] = /```ini\n(# \/etc\/oracle\.env.*?)```/s.exec(documentText('docs/OPERATE.md'))!;
  const { addresses, keys } = chain;
  return {
    ...(parseEnv(example) as Record<string, string>),
    ...{ PORT: '0', DATA_DIR: folder, MONGODB_URI: database.uri, PROVIDER_URLS: host.providerUrls },
    // Each transaction has a block of its own here, and nothing follows it.
    ...{ CHAIN_RPC_URL: chain.rpcUrl, CHAIN_ID: String(chain.chainId), CONFIRMATIONS: '1' },
    ATTESTER_PRIVATE_KEY: keys.attester,
    REPORTER_PRIVATE_KEY: keys.reporter,
    FACILITATOR_PRIVATE_KEY: keys.facilitator,
    PROVIDER_PRIVATE_KEY: keys.provider,
    PAYEE_ADDRESS: chain.deployer.address,
    SALT_SECRET: secretOf('salt'),
    ENCRYPTION_SECRET: secretOf('encryption'),
    BACKUP_KEY: secretOf('backup'),
    ADMIN_PASSWORD: secretOf('password'),
    GATE_TOKEN_ADDRESS: addresses.gateToken,
    STABLECOIN_ADDRESS: addresses.stablecoin,
    IDENTITY_REGISTRY_ADDRESS: addresses.identityRegistry,
    REPUTATION_REGISTRY_ADDRESS: addresses.reputationRegistry,
  };
}

/** The keys of the attester and the provider in a signer, and the master secrets in files. */
async function settingsWithoutKeys(): Promise<Record<string, string>> {
  const { ATTESTER_PRIVATE_KEY: _, PROVIDER_PRIVATE_KEY: __, SALT_SECRET, ENCRYPTION_SECRET, ...others } = settings();
  const secrets = await mkdtemp(join(tmpdir(), 'oracle-secrets-'));
  const [SALT_SECRET_FILE, ENCRYPTION_SECRET_FILE] = [join(secrets, 'salt'), join(secrets, 'encryption')];
  await Promise.all([writeFile(SALT_SECRET_FILE, `${SALT_SECRET}\n`), writeFile(ENCRYPTION_SECRET_FILE, `${ENCRYPTION_SECRET}\n`)]);
  return {
    ...{ ...others, SALT_SECRET_FILE, ENCRYPTION_SECRET_FILE, ATTESTER_SIGNER: signer.url, PROVIDER_SIGNER: signer.url },
    ...{ ATTESTER_ADDRESS: chain.accounts.attester.address, PROVIDER_ADDRESS: chain.accounts.provider.address },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
const get = async (path: string): Promise<any> => (await fetch(`${running!.url}${path}`)).json();
const pipeline = (words: string[], more: Record<string, string> = {}) =>
  spawnNode(['bin/pipeline.mjs', ...words], { ...settings(), ...more }).ended;

it('the settings of docs/OPERATE.md start a record on a chain that is not local, and keep it from other secrets', async () => {
  running = await startService(settings());
  expect(await get('/ready')).toMatchObject({ ready: true });
  expect(await get('/api/status')).toMatchObject({ market: { kind: 'live', source: 'live' }, chain: { local: false } });
  expect(await get('/api/svc/agent/identity')).toMatchObject({
    wallet: chain.accounts.attester.address,
    agentUri: 'https://oracle.example.org/.well-known/agent-registration.json',
  });

  const signal = await pipeline(['signal', '--early']);
  expect(signal, signal.output).toMatchObject({ code: 0 });
  const attest = await pipeline(['attest']);
  expect(attest, attest.output).toMatchObject({ code: 0 });
  const { data } = await get('/api/svc/onchain-oracle/latest');
  expect(data).toMatchObject({ sequence: 1, signal: 'GATED', replayed: false, type: 'prediction' });
  const { contracts } = await get('/api/claw/ecosystem');
  for (const name of ['eas', 'schemaRegistry', 'identityRegistry', 'reputationRegistry', 'gateToken', 'stablecoin']) {
    expect(contracts[name], name).toMatchObject({ state: 'live' });
  }
  expect(await readdir(folder)).toEqual([]);

  const refused = [
    [{ SALT_SECRET: secretOf('another salt') }, 'does not open what the record has committed to'],
    [{ ENCRYPTION_SECRET: secretOf('another encryption') }, 'does not open what the database holds'],
    [{ ATTESTER_PRIVATE_KEY: chain.keys.stranger }, 'Use the key that registered the agent'],
    [{ REPORTER_PRIVATE_KEY: chain.keys.attester }, 'must not be the key of ATTESTER_PRIVATE_KEY'],
    [{ CHAIN_ID: '8453' }, 'but the RPC endpoint serves chain 84532'],
    [{ FEEDS: 'simulated' }, 'simulated data is refused on a real chain'],
  ] as const;
  for (const [change, words] of refused) {
    const { code, output } = await pipeline(['resolve'], change);
    expect({ code, output }, words).toEqual({ code: 1, output: expect.stringContaining(words) });
  }
});

it('the same record goes on with its keys in a signer and its secrets in files, and waits while the signer does not answer', async () => {
  running?.child.kill('SIGTERM');
  await running?.ended;
  const environment = await settingsWithoutKeys();
  running = await startService(environment);
  const detail = 'answer: attester, provider';
  expect(await get('/ready')).toMatchObject({ ready: true, checks: expect.arrayContaining([{ name: 'signers', ok: true, detail }]) });
  expect(await get('/.well-known/x402.json')).toMatchObject({ receipt: { signer: chain.accounts.provider.address } });

  signer.answer = () => ({ status: 503, body: '' });
  const waiting = await spawnNode(['bin/pipeline.mjs', 'attest'], environment).ended;
  expect(waiting).toMatchObject({ code: 1, output: expect.stringMatching(/The signer of the (?:attester|provider) does not answer/) });
  signer.answer = null;
  const elsewhere = await spawnNode(['bin/pipeline.mjs', 'attest'], { ...environment, ATTESTER_ADDRESS: chain.accounts.stranger.address })
    .ended;
  expect(elsewhere).toMatchObject({ code: 1, output: expect.stringContaining('Setting ATTESTER_SIGNER: cannot sign for the attester') });
});
