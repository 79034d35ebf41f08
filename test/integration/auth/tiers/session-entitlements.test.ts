import { SignJWT } from 'jose';
import { encodeFunctionData, type Hex, parseAbi, parseUnits } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AuthService } from '../../../../src/auth/auth.ts';
import { sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { route } from '../../../../src/http/route.ts';
import { createApp } from '../../../../src/http/server.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';
import { signedLogin } from '../../../support/auth/login.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { type RpcProxy, rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { serveApp } from '../../../support/http/serve.ts';

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
const log = createLog({ level: 'silent', secrets: [] });

let database: TestDatabase;
let test: TestChain;
let proxy: RpcProxy;
let now: Date;
beforeAll(async () => {
  [database, test] = await Promise.all([testDatabase(), testChain()]);
  proxy = await rpcProxy(test.rpcUrl);
});
afterAll(async () => {
  await proxy.close();
  await test.stop();
  await database.drop();
});
beforeEach(() => {
  proxy.hooks = {};
  now = new Date('2025-12-31T23:58:00Z');
});

const pass = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1_000);
};

/** What one process has of it. */
async function accessOf(confirmations = 1): Promise<AuthService> {
  const chain = await test.connect({ rpcUrl: proxy.url, confirmations });
  const siwe = { domain: 'oracle.example', origin: 'https://oracle.example', chainId: test.chainId };
  const secretBox = createSecretBox('s'.repeat(32));
  return new AuthService({ db: database.db, chain, secretBox, issuer: 'eip155:84532:0x0:0', siwe, now: () => now });
}

type Account = ReturnType<typeof privateKeyToAccount>;

async function give(to: Hex, tokens: string): Promise<void> {
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [to, parseUnits(tokens, 18)] });
  await sendTransactions(test.rpcUrl, test.deployer, [{ to: test.addresses.gateToken, data }]);
}

/** Takes tokens away from a wallet. */
async function take(from: Account, tokens: string): Promise<void> {
  await test.rpc('anvil_setBalance', from.address, '0x56bc75e2d63100000');
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [test.deployer.address, parseUnits(tokens, 18)] });
  await sendTransactions(test.rpcUrl, from, [{ to: test.addresses.gateToken, data }]);
}

/** A wallet with so many tokens, logged in. */
async function loggedIn(access: AuthService, tokens: string): Promise<{ account: Account; header: string }> {
  const account = privateKeyToAccount(generatePrivateKey());
  await give(account.address, tokens);
  const { token } = await access.logIn(await signedLogin(account, now.getTime()));
  return { account, header: `Bearer ${token}` };
}

const calls = () => proxy.counts.get('eth_call') ?? 0;

describe('a balance that changes', () => {
  it('takes effect within a minute when it falls, and recovers, but never exceeds the tier at login', async () => {
    const access = await accessOf();
    const { account, header } = await loggedIn(access, '1000000000');
    await take(account, '0.000000000000000001');
    pass(59);
    expect(await access.identify(header)).toMatchObject({ tier: 'premium' });
    pass(2);
    expect(await access.identify(header)).toMatchObject({ tier: 'basic', balance: '999999999.999999999999999999' });
    await take(account, '600000000');
    pass(61);
    expect(await access.identify(header)).toMatchObject({
      tier: 'public',
      wallet: account.address,
      balance: '399999999.999999999999999999',
    });
    await give(account.address, '700000000');
    pass(61);
    expect(await access.identify(header)).toMatchObject({ tier: 'premium' });
  });

  it('never raises a session above its tier at login', async () => {
    const access = await accessOf();
    const { account, header } = await loggedIn(access, '500000000');
    await give(account.address, '500000000');
    pass(61);
    expect(await access.identify(header)).toMatchObject({ tier: 'basic', balance: '1000000000' });
  });

  it('is reported with the rejection, and the wallet can still log out', async () => {
    const access = await accessOf();
    const { account, header } = await loggedIn(access, '500000000');
    const gated = route('GET /gated', 'gated', {
      tag: 'signal',
      summary: 'Gated',
      access: 'basic',
      reply: z.object({ ok: z.boolean() }),
      handle: () => ({ body: { ok: true } }),
    });
    const served = await serveApp(createApp([gated], { log, identify: (authorization) => access.identify(authorization) }));
    const ask = () => fetch(`${served.url}/gated`, { headers: { Authorization: header } });
    expect((await ask()).status).toBe(200);
    await take(account, '1');
    pass(61);
    const refused = await ask();
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: 'TIER_REQUIRED', tier: 'public', requiredTier: 'basic', balance: '499999999' });
    const { sessionId } = await access.identify(header);
    expect(await access.logOut(sessionId!)).toBe(true);
    await expect(access.identify(header)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await served.close();
  });

  it('counts at its confirmation depth', async () => {
    const access = await accessOf(3);
    const account = privateKeyToAccount(generatePrivateKey());
    await give(account.address, '500000000');
    expect(await access.getGateBalance(account.address)).toMatchObject({ tier: 'public', balance: '0' });
    await test.mine(2);
    pass(5);
    expect(await access.getGateBalance(account.address)).toMatchObject({ tier: 'basic', balance: '500000000' });
  });
});

describe('a reading', () => {
  it('is shared by concurrent requests, processes and sessions', async () => {
    const [one, other] = [await accessOf(), await accessOf()];
    const { account, header } = await loggedIn(one, '500000000');
    const { token } = await one.logIn(await signedLogin(account, now.getTime() + 1));
    await other.getGateBalance(account.address);
    pass(61);
    const before = calls();
    await Promise.all(Array.from({ length: 20 }, () => one.identify(header)));
    expect(calls() - before).toBe(1);
    pass(30);
    await other.identify(header);
    await other.identify(`Bearer ${token}`);
    expect(calls() - before).toBe(1);
    pass(31);
    await other.identify(header);
    expect(calls() - before).toBe(2);
  });

  it('of the public endpoint is cached for some seconds', async () => {
    const access = await accessOf();
    const { address } = privateKeyToAccount(generatePrivateKey());
    const first = await access.getGateBalance(address);
    const before = calls();
    expect(await access.getGateBalance(address.toLowerCase() as Hex)).toEqual(first);
    expect(calls() - before).toBe(0);
    await give(address, '500000000');
    pass(5);
    expect(await access.getGateBalance(address)).toMatchObject({ tier: 'basic' });
  });
});

describe('an unreachable chain', () => {
  it('is replaced by the last reading for five minutes', async () => {
    const access = await accessOf();
    const { header } = await loggedIn(access, '500000000');
    proxy.hooks.onRequest = () => 'drop';
    pass(61);
    expect(await access.identify(header)).toMatchObject({ tier: 'basic' });
    pass(239);
    expect(await access.identify(header)).toMatchObject({ tier: 'basic' });
    pass(1);
    await expect(access.identify(header)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    proxy.hooks.onRequest = undefined;
    // Left alone for a moment after a failure, then asked again.
    await expect(access.identify(header)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    pass(5);
    expect(await access.identify(header)).toMatchObject({ tier: 'basic' });
  });

  it('includes one that reports a revert of the token', async () => {
    const access = await accessOf();
    const { header } = await loggedIn(access, '500000000');
    proxy.hooks.onRequest = ({ method }) => (method === 'eth_call' ? { error: { code: 3, message: 'execution reverted' } } : undefined);
    pass(61);
    expect(await access.identify(header)).toMatchObject({ tier: 'basic' });
    pass(240);
    await expect(access.identify(header)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', retryable: true });
  });

  it('that hangs delays one request by three seconds and the next ones not at all', async () => {
    const access = await accessOf();
    const { header } = await loggedIn(access, '500000000');
    const { promise, resolve } = Promise.withResolvers<undefined>();
    proxy.hooks.onRequest = () => promise;
    pass(61);
    const startedMs = performance.now();
    expect(await access.identify(header)).toMatchObject({ tier: 'basic' });
    const firstMs = performance.now() - startedMs;
    expect(firstMs).toBeGreaterThan(2_500);
    expect(firstMs).toBeLessThan(8_000);
    const requests = [...proxy.counts.values()].reduce((sum, count) => sum + count, 0);
    await Promise.all(Array.from({ length: 50 }, () => access.identify(header)));
    expect([...proxy.counts.values()].reduce((sum, count) => sum + count, 0)).toBe(requests);
    resolve(undefined);
  });

  it('leaves the signature of a failed login usable', async () => {
    const access = await accessOf();
    const account = privateKeyToAccount(generatePrivateKey());
    await give(account.address, '500000000');
    const login = await signedLogin(account, now.getTime());
    proxy.hooks.onRequest = () => 'drop';
    await expect(access.logIn(login)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    const byContract = { ...login, wallet: test.deployer.address };
    await expect(access.logIn(byContract)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    proxy.hooks.onRequest = undefined;
    const opened = await access.logIn(login);
    expect(opened).toMatchObject({ tier: 'basic', wallet: account.address });
    await expect(access.logIn(login)).rejects.toMatchObject({ code: 'CONFLICT', field: 'signature' });
  });

  it('as well as too low a balance: the same message logs in once it suffices', async () => {
    const access = await accessOf();
    const account = privateKeyToAccount(generatePrivateKey());
    const login = await signedLogin(account, now.getTime());
    for (let times = 0; times < 2; times++) await expect(access.logIn(login)).rejects.toMatchObject({ code: 'TIER_REQUIRED' });
    await give(account.address, '500000000');
    expect(await access.logIn(login)).toMatchObject({ tier: 'basic', wallet: account.address });
    await expect(access.logIn(login)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('that fails during ten identical logins admits at most one', async () => {
    const access = await accessOf();
    const account = privateKeyToAccount(generatePrivateKey());
    await give(account.address, '500000000');
    const login = await signedLogin(account, now.getTime());
    let failures = 0;
    proxy.hooks.onRequest = ({ method }) => {
      if (method !== 'eth_blockNumber' || failures > 3) return undefined;
      failures += 1;
      return 'drop';
    };
    const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => access.logIn(login)));
    proxy.hooks = {};
    const last = await access.logIn(login).then(
      () => 1,
      () => 0,
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled').length + last).toBe(1);
  });
});

describe('a token', () => {
  it('has the entitlement of its session: a stolen key raises no tier and changes no wallet', async () => {
    const access = await accessOf();
    const { account, header } = await loggedIn(access, '500000000');
    const { kid, privateKey } = await access.keys.getSigningKey();
    const content = JSON.parse(Buffer.from(header.split('.')[1]!, 'base64url').toString());
    const forge = (change: object) =>
      new SignJWT({ ...content, ...change }).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid }).sign(privateKey);
    expect(await access.identify(`Bearer ${await forge({ tier: 'premium' })}`)).toMatchObject({ tier: 'basic', wallet: account.address });
    for (const change of [{ sub: test.deployer.address }, { jti: 'made-up' }]) {
      await expect(access.identify(`Bearer ${await forge(change)}`)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });

  it('returns its caller and expiry', async () => {
    const access = await accessOf();
    const { account, header } = await loggedIn(access, '500000000');
    const { caller, expiresAt } = await access.identifyToken(header.slice('Bearer '.length));
    expect(caller).toMatchObject({ tier: 'basic', wallet: account.address });
    expect(expiresAt).toEqual(new Date('2026-01-01T00:28:00Z'));
    pass(1_800);
    await expect(access.identify(header)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: 'The access token has expired' });
  });
});
