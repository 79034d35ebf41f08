import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  type PublicClient,
  parseAbi,
  parseSignature,
  parseUnits,
  serializeCompactSignature,
  serializeSignature,
  signatureToCompactSignature,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage, type SiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeExpired } from '../../../../src/app/retention.ts';
import { formatLoginMessage } from '../../../../src/auth/login-message.ts';
import { parseLocalKeys } from '../../../../src/dev/demo.ts';
import { sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { accessRoutes, JWKS_REPLY, LOGOUT_REPLY, NONCE_REPLY, SESSION_REPLY, WALLET_REPLY } from '../../../../src/http/routes/auth.ts';
import { asTier, demoWallets, loginToken, signedLogin } from '../../../support/auth/login.ts';
import { walletFactory } from '../../../support/chain/contract-wallet.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { type TestService, testService } from '../../../support/service/service.ts';

let service: TestService;
let server: Served;
let demo: ReturnType<typeof demoWallets>;
let client: PublicClient;
beforeAll(async () => {
  service = await testService(0);
  const { log, identify } = service.appOptions;
  server = await serve({ http: service.http, appOptions: { log, identify } }, accessRoutes(service.http));
  demo = demoWallets(service);
  client = createPublicClient({ transport: http(service.infrastructure.rpcUrl) });
});
afterAll(async () => {
  await server.close();
  await service.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

async function send(method: string, path: string, { body, headers }: { body?: object; headers?: Record<string, string> } = {}) {
  const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const init = { method, headers: { ...json, ...headers }, body: body === undefined ? null : JSON.stringify(body) };
  const response = await fetch(`${server.url}${path}`, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

const VERIFY = '/api/svc/oracle/verify';
const SIWE = '/api/svc/oracle/siwe';
const logIn = (body: object) => send('POST', VERIFY, { body });

let moments = 0;
/** A time of its own for each signature, in milliseconds, within the window. */
const moment = () => {
  moments += 1;
  return Date.now() - 30_000 + moments;
};

async function giveTokens(to: Hex, tokens: string): Promise<void> {
  const { rpcUrl, contracts } = service.infrastructure;
  const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [to, parseUnits(tokens, 18)] });
  const keys = parseLocalKeys(JSON.parse(await readFile(join(service.dataDir, 'keys.json'), 'utf8')));
  await sendTransactions(rpcUrl, privateKeyToAccount(keys.deployer), [{ to: contracts.gateToken!, data }]);
}

const SPELLINGS: Record<string, (address: string) => string> = {
  'lower case': (address) => address.toLowerCase(),
  'upper case': (address) => `0x${address.slice(2).toUpperCase()}`,
  'its checksum': (address) => address,
};

const toCompact = (signature: Hex) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));

describe('a login by the access message', () => {
  it.each(['basic', 'premium'] as const)('returns a %s token with its requirement', async (tier) => {
    const { status, body, headers } = await logIn(await signedLogin(demo[tier], moment()));
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(undocumented(SESSION_REPLY, body)).toEqual([]);
    const balance = tier === 'basic' ? '500000000' : '1000000000';
    expect(body).toMatchObject({ success: true, tier, wallet: demo[tier].address, balance });
    expect(body.expires_in).toBeGreaterThan(1_790);
    expect(body.expires_in).toBeLessThanOrEqual(1_800);
    expect(await service.appOptions.identify(`Bearer ${body.token}`)).toMatchObject({ tier, wallet: demo[tier].address, balance });
  });

  it.each(
    Object.entries(SPELLINGS).flatMap(([signed, spellSigned]) =>
      Object.entries(SPELLINGS).map(([sent, spellSent]) => ({ signed, sent, spellSigned, spellSent })),
    ),
  )('accepts a message with the wallet in $signed for a request with it in $sent, once', async ({ spellSigned, spellSent }) => {
    const timestamp = moment();
    const message = formatLoginMessage(spellSigned(demo.basic.address), timestamp);
    const login = { wallet: spellSent(demo.basic.address), signature: await demo.basic.signMessage({ message }), timestamp };
    expect(await logIn(login)).toMatchObject({ status: 200, body: { wallet: demo.basic.address } });
    for (const spell of Object.values(SPELLINGS)) {
      expect(await logIn({ ...login, wallet: spell(demo.basic.address) })).toMatchObject({ status: 409 });
    }
  });

  it('accepts a compact signature (EIP-2098)', async () => {
    const login = await signedLogin(demo.basic, moment());
    const signature = toCompact(login.signature);
    expect(signature).toHaveLength(2 + 2 * 64);
    expect(await logIn({ ...login, signature })).toMatchObject({ status: 200, body: { wallet: demo.basic.address } });
    const ofAnother = toCompact((await signedLogin(demo.premium, moment())).signature);
    expect(await logIn({ ...login, signature: ofAnother })).toMatchObject({ status: 401, body: { field: 'signature' } });
  });

  it('accepts seconds and milliseconds, each as signed', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const login = await signedLogin(demo.basic, seconds - 1);
    const mixed = await logIn({ ...login, timestamp: login.timestamp * 1_000 });
    expect(mixed).toMatchObject({ status: 401, body: { field: 'signature' } });
    expect(await logIn(login)).toMatchObject({ status: 200 });
    expect(await logIn(await signedLogin(demo.basic, (seconds - 1) * 1_000))).toMatchObject({ status: 200 });
  });

  it("rejects a time outside the window, with the server's time", async () => {
    for (const offsetMs of [-301_000, 302_000, -86_400_000]) {
      const { status, body } = await logIn(await signedLogin(demo.basic, Date.now() + offsetMs));
      expect(status).toBe(401);
      expect(body).toMatchObject({ code: 'UNAUTHENTICATED', field: 'timestamp', windowSeconds: 300 });
      expect(Math.abs(Date.parse(body.serverTime) - Date.now())).toBeLessThan(5_000);
    }
    expect(await logIn(await signedLogin(demo.basic, Date.now() - 290_000))).toMatchObject({ status: 200 });
    expect(await logIn(await signedLogin(demo.basic, Date.now() + 290_000))).toMatchObject({ status: 200 });
  });

  it('rejects a signature of another wallet or over another message', async () => {
    const timestamp = moment();
    const login = await signedLogin(demo.basic, timestamp);
    const byAnother = { ...(await signedLogin(demo.premium, timestamp)), wallet: demo.basic.address };
    const bodies = [
      byAnother,
      { ...login, timestamp: timestamp + 1 },
      { ...login, wallet: demo.premium.address },
      { ...login, signature: await demo.basic.signMessage({ message: `Verify svc balance: ${login.wallet}:${timestamp} ` }) },
      { ...login, wallet: `0x${'0'.repeat(40)}`, signature: `0x${'11'.repeat(64)}1b` },
    ];
    for (const body of bodies) {
      expect(await logIn(body)).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED', field: 'signature' } });
    }
    // None of these cost the true one its use.
    expect(await logIn(login)).toMatchObject({ status: 200 });
  });

  it('opens one session over all endpoints and encodings of the signature: 409 names the fix', async () => {
    const login = await signedLogin(demo.premium, moment());
    const answers = await Promise.all(Array.from({ length: 10 }, () => logIn(login)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body).toMatchObject({ code: 'CONFLICT', field: 'signature', detail: expect.stringContaining('used before') });
    expect(refused.body.suggestedAction).toMatch(/another timestamp/);
    for (const again of malleated(login.signature)) {
      expect(await logIn({ ...login, signature: again })).toMatchObject({ status: 409 });
    }
  });

  it('rejects a balance below Basic, with balance and requirement', async () => {
    const poor = await signedLogin(demo.poor, moment());
    const { status, body } = await logIn(poor);
    expect(status).toBe(403);
    expect(body).toMatchObject({
      code: 'TIER_REQUIRED',
      balance: '0',
      tier: 'public',
      requiredTier: 'basic',
      requiredBalance: '500000000',
      requirement: 'at least 500,000,000 gate tokens',
    });
  });

  it.each<[string, object, string]>([
    ['no wallet', { wallet: undefined }, 'wallet'],
    ['a wallet that is none', { wallet: '0x12' }, 'wallet'],
    ['a number for a wallet', { wallet: 12 }, 'wallet'],
    ['a wrong checksum', { wallet: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96046' }, 'wallet'],
    ['no signature', { signature: undefined }, 'signature'],
    ['a signature that is no hex', { signature: '0xzz' }, 'signature'],
    ['half a byte', { signature: '0x123' }, 'signature'],
    ['an empty signature', { signature: '0x' }, 'signature'],
    ['too long a signature', { signature: `0x${'00'.repeat(8_193)}` }, 'signature'],
    ['no timestamp', { timestamp: undefined }, 'timestamp'],
    ['a text for a timestamp', { timestamp: '1700000000' }, 'timestamp'],
    ['a fraction of a second', { timestamp: 1_700_000_000.5 }, 'timestamp'],
    ['a time before 1970', { timestamp: -1 }, 'timestamp'],
    ['a time beyond counting', { timestamp: 1e300 }, 'timestamp'],
    ['a field that nobody asked for', { tier: 'premium' }, 'tier'],
  ])('is not read with %s', async (_, change, field) => {
    const body = { ...(await signedLogin(demo.basic, moment())), ...change };
    expect(await logIn(body)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID', field } });
  });
});

/** Other bytes that stand for the same signature of a key. */
function malleated(signature: Hex): Hex[] {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const { r, s, yParity } = parseSignature(signature);
  const mirrored = `0x${(order - BigInt(s)).toString(16).padStart(64, '0')}` as Hex;
  return [
    serializeSignature({ r, s: mirrored, yParity: 1 - yParity }),
    `${signature.slice(0, -2)}0${yParity}` as Hex,
    signature.toUpperCase().replace('0X', '0x') as Hex,
    toCompact(signature),
  ];
}

describe('a contract wallet', () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const signedFor = async (wallet: Hex, wrap: (signature: Hex) => Hex = (signature) => signature) => {
    const timestamp = moment();
    return { wallet, signature: wrap(await owner.signMessage({ message: formatLoginMessage(wallet, timestamp) })), timestamp };
  };

  it('logs in before and after its deployment, each signature once', async () => {
    const wallets = await walletFactory({ client }, service.infrastructure.rpcUrl, demo.premium);
    const { address, deploy, wrapped } = await wallets(owner.address);
    await giveTokens(address, '500000000');
    const counterfactual = await signedFor(address, wrapped);
    expect(await logIn(counterfactual)).toMatchObject({ status: 200, body: { wallet: address, tier: 'basic' } });
    await deploy();
    expect(await logIn(counterfactual)).toMatchObject({ status: 409 });
    expect(await logIn(await signedFor(address))).toMatchObject({ status: 200, body: { wallet: address, tier: 'basic' } });
    const inLowerCase = await signedFor(address.toLowerCase() as Hex);
    expect(await logIn({ ...inLowerCase, wallet: address })).toMatchObject({ status: 200, body: { wallet: address } });
    const timestamp = moment();
    const stranger = await demo.poor.signMessage({ message: formatLoginMessage(address, timestamp) });
    expect(await logIn({ wallet: address, signature: stranger, timestamp })).toMatchObject({ status: 401, body: { field: 'signature' } });
  });
});

describe('a text for one act', () => {
  it('is verified for contract wallets, deployed or not, and used once', async () => {
    const { acts } = service.http.access;
    const owner = privateKeyToAccount(generatePrivateKey());
    const { address, deploy, wrapped } = await (await walletFactory({ client }, service.infrastructure.rpcUrl, demo.premium))(
      owner.address,
    );
    const { message } = await acts.compose(address, { kind: 'manage-access', revoke: null });
    const signature = await owner.signMessage({ message });
    const redeem = (sent: Hex) => acts.redeem('manage-access', { message, signature: sent }, async (wallet) => wallet);
    await expect(redeem(signature)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', field: 'signature' });
    const failing = acts.redeem('manage-access', { message, signature: wrapped(signature) }, async () =>
      Promise.reject(new Error('failed')),
    );
    await expect(failing).rejects.toThrow('failed');
    expect(await redeem(wrapped(signature))).toBe(address);
    await deploy();
    await expect(redeem(signature)).rejects.toMatchObject({ code: 'CONFLICT', field: 'message' });
  });
});

describe('a login by EIP-4361', () => {
  async function message(account: PrivateKeyAccount, changes: Partial<SiweMessage> = {}) {
    const { body: terms } = await send('GET', '/api/svc/oracle/nonce');
    const { nonce, domain, uri, version, chainId } = terms;
    return createSiweMessage({ address: account.address, issuedAt: new Date(), nonce, domain, uri, version, chainId, ...changes });
  }
  const signed = async (account: PrivateKeyAccount, text: string) => ({
    message: text,
    signature: await account.signMessage({ message: text }),
  });

  it('accepts the issued nonce and returns the same session', async () => {
    const terms = await send('GET', '/api/svc/oracle/nonce');
    expect(undocumented(NONCE_REPLY, terms.body)).toEqual([]);
    expect(terms.headers.get('cache-control')).toBe('no-store');
    expect(terms.body).toMatchObject({ domain: '127.0.0.1:3000', uri: 'http://127.0.0.1:3000', version: '1', chainId: 84532 });
    const { status, body } = await send('POST', SIWE, { body: await signed(demo.premium, await message(demo.premium)) });
    expect(status).toBe(200);
    expect(undocumented(SESSION_REPLY, body)).toEqual([]);
    expect(await service.appOptions.identify(`Bearer ${body.token}`)).toMatchObject({ tier: 'premium', wallet: demo.premium.address });
  });

  it.each(Object.entries(SPELLINGS))('accepts the address in %s, and a compact signature', async (_, spell) => {
    const text = (await message(demo.premium)).replace(demo.premium.address, spell(demo.premium.address));
    const body = await signed(demo.premium, text);
    const answer = await send('POST', SIWE, { body: { ...body, signature: toCompact(body.signature) } });
    expect(answer).toMatchObject({ status: 200, body: { wallet: demo.premium.address } });
  });

  it('uses a nonce once over all endpoints and messages', async () => {
    const first = await message(demo.basic);
    const nonce = /Nonce: (\w+)/.exec(first)![1]!;
    const body = await signed(demo.basic, first);
    const answers = await Promise.all(Array.from({ length: 6 }, () => send('POST', SIWE, { body })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    const second = await signed(demo.premium, await message(demo.premium, { nonce, statement: 'Again.' }));
    expect(await send('POST', SIWE, { body: second })).toMatchObject({ status: 409, body: { code: 'CONFLICT', field: 'signature' } });
  });

  it('rejects a nonce of another service and a modified message', async () => {
    const made = await signed(demo.basic, await message(demo.basic, { nonce: 'a1b2c3d4e5f60718' }));
    expect(await send('POST', SIWE, { body: made })).toMatchObject({ status: 401, body: { field: 'message.nonce' } });
    const good = await signed(demo.basic, await message(demo.basic, { statement: 'Sign in.' }));
    const changed = { ...good, message: good.message.replace('Sign in.', 'Sign up.') };
    expect(await send('POST', SIWE, { body: changed })).toMatchObject({ status: 401, body: { field: 'signature' } });
    const domain = await signed(demo.basic, await message(demo.basic, { domain: 'evil.example' }));
    expect(await send('POST', SIWE, { body: domain })).toMatchObject({ status: 401, body: { field: 'message.domain' } });
    expect(await send('POST', SIWE, { body: { ...good, message: 'hello' } })).toMatchObject({ status: 400, body: { field: 'message' } });
    const long = { ...good, message: 'a'.repeat(4_097) };
    expect(await send('POST', SIWE, { body: long })).toMatchObject({ status: 400, body: { field: 'message' } });
    expect(await send('POST', SIWE, { body: good })).toMatchObject({ status: 200 });
  });
});

const SESSION = '/api/svc/oracle/session';

describe('the end of a session', () => {
  it('ends the session of the given token only', async () => {
    const [headers, other] = await Promise.all([asTier(service, 'basic'), asTier(service, 'basic')]);
    const { status, body } = await send('DELETE', SESSION, { headers });
    expect(status).toBe(200);
    expect(undocumented(LOGOUT_REPLY, body)).toEqual([]);
    const refused = { status: 401, body: { code: 'UNAUTHENTICATED', detail: expect.stringContaining('logged out or revoked') } };
    expect(await send('DELETE', SESSION, { headers })).toMatchObject(refused);
    expect((await send('GET', '/.well-known/jwks.json', { headers })).headers.get('www-authenticate')).toContain('invalid_token');
    expect(await send('GET', '/.well-known/jwks.json', { headers: other })).toMatchObject({ status: 200 });
    expect(await send('DELETE', SESSION)).toMatchObject({ status: 401, body: { field: 'Authorization' } });
  });

  it("ends all sessions of a wallet on the operator's request", async () => {
    const tokens = await Promise.all([loginToken(service, 'premium'), loginToken(service, 'premium')]);
    const spared = await asTier(service, 'basic');
    expect(await service.http.access.revokeAccess(demo.premium.address.toLowerCase() as Hex)).toBeGreaterThanOrEqual(2);
    for (const token of tokens) {
      await expect(service.appOptions.identify(`Bearer ${token}`)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    expect(await service.appOptions.identify(spared.Authorization)).toMatchObject({ tier: 'basic' });
    expect(await service.http.access.revokeAccess(demo.premium.address)).toBe(0);
  });
});

describe('the Authorization header', () => {
  it.each(['premium', 'Bearer', 'Bearer ', 'Bearer a b', 'Basic YTpi', 'Token abc', 'Bearer: x'])(
    '%j is rejected with 401 where a token is needed, and served as anonymous with the same challenge where none is',
    async (value) => {
      const headers = { Authorization: value };
      const [gated, open] = [await send('DELETE', SESSION, { headers }), await send('GET', '/.well-known/jwks.json', { headers })];
      expect(gated.status).toBe(401);
      expect(gated.body).toMatchObject({ code: 'UNAUTHENTICATED', field: 'Authorization' });
      expect([open.status, open.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
      for (const { headers } of [gated, open]) {
        expect(headers.get('www-authenticate')).toBe('Bearer realm="oracle", error="invalid_token"');
      }
    },
  );

  it('with a valid token makes the response private, also where it equals the anonymous one', async () => {
    const headers = await asTier(service, 'basic');
    const cachingOf = async (sent: object) => (await send('GET', '/.well-known/jwks.json', sent)).headers.get('cache-control');
    expect([await cachingOf({}), await cachingOf({ headers })]).toEqual(['public, max-age=60', 'private, no-store']);
  });

  it('is not blamed for an invalid signature in the body', async () => {
    const body = { ...(await signedLogin(demo.basic, moment())), signature: `0x${'11'.repeat(64)}1b` };
    const { status, headers } = await send('POST', VERIFY, { body, headers: await asTier(service, 'basic') });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="oracle"']);
  });

  it('may spell its scheme in any case', async () => {
    const token = await loginToken(service, 'basic');
    expect(await send('GET', '/.well-known/jwks.json', { headers: { Authorization: `bearer ${token}` } })).toMatchObject({ status: 200 });
  });
});

describe('public endpoints', () => {
  it.each([
    ['basic', '500000000', [true, false]],
    ['poor', '0', [false, false]],
  ] as const)('a wallet such as the %s one has a balance and a tier', async (name, balance, [basic, premium]) => {
    const { status, body } = await send('GET', `/api/svc/verify/${demo[name].address.toLowerCase()}`);
    expect(status).toBe(200);
    expect(undocumented(WALLET_REPLY, body)).toEqual([]);
    expect(body).toMatchObject({ wallet: demo[name].address, balance, tier: name === 'basic' ? 'basic' : 'public', chain: 'eip155:84532' });
    expect(body.requirements).toEqual({ basic: { balance: '500000000', met: basic }, premium: { balance: '1000000000', met: premium } });
    const newest = await client.getBlockNumber();
    expect(BigInt(body.blockNumber)).toBeLessThanOrEqual(newest);
  });

  it.each(['0x12', '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96046', 'vitalik.eth'])('%s is rejected as a wallet', async (wallet) => {
    expect(await send('GET', `/api/svc/verify/${wallet}`)).toMatchObject({ status: 400, body: { field: 'wallet' } });
  });

  it('serve the keys with a max-age of a minute', async () => {
    const { status, body, headers } = await send('GET', '/.well-known/jwks.json');
    expect(status).toBe(200);
    expect(undocumented(JWKS_REPLY, body)).toEqual([]);
    expect(headers.get('cache-control')).toBe('public, max-age=60');
    expect(JSON.stringify(body)).not.toContain('"d"');
  });
});

it('stores nothing of a login that is usable for a thief of the database', async () => {
  const token = await loginToken(service, 'basic');
  const { db } = service.database;
  const names = ['sessions', 'token_keys', 'login_claims', 'login_nonces'];
  const all = await Promise.all(names.map((name) => db.collection(name).find().toArray()));
  expect(all.every((docs) => docs.length > 0)).toBe(true);
  const text = JSON.stringify(all);
  for (const part of token.split('.').slice(1)) expect(text).not.toContain(part);
});

it('purges expired documents only', async () => {
  const { db } = service.database;
  const token = await loginToken(service, 'basic');
  const count = (name: string) => db.collection(name).countDocuments();
  await purgeExpired(db, new Date());
  expect(await service.appOptions.identify(`Bearer ${token}`)).toMatchObject({ tier: 'basic' });
  expect(await count('login_claims')).toBeGreaterThan(0);
  await purgeExpired(db, new Date(Date.now() + 31 * 60_000));
  expect(await Promise.all(['sessions', 'login_claims', 'login_nonces'].map(count))).toEqual([0, 0, 0]);
  expect(await count('token_keys')).toBe(1);
});
