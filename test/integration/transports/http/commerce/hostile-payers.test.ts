import { type Address, createPublicClient, encodeFunctionData, type Hex, http, type LocalAccount, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPaidCalls, createSkillRunner } from '../../../../../skills/runner.ts';
import { createRateLimits, createRequestCountStore } from '../../../../../src/auth/rate-limits.ts';
import type { PaymentRequirements } from '../../../../../src/commerce/x402/terms.ts';
import { callJsonRpc, sendTransactions } from '../../../../../src/dev/local-chain/contracts.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { joinUrl } from '../../../../../src/platform/service-client.ts';
import { type WalletBehaviour, walletFactory } from '../../../../support/chain/contract-wallet.ts';
import { delegateTo } from '../../../../support/chain/delegation.ts';
import { rawKey } from '../../../../support/chain/raw-key.ts';
import { asHeader, readHeader, stablecoins, withSignal } from '../../../../support/commerce/payments.ts';
import { type Signing, signPayment } from '../../../../support/commerce/x402.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Body;
}

const PRICE = 1_000n;
const tokenAbi = parseAbi(['function mint(address to, uint256 value)', 'function transfer(address to, uint256 value) returns (bool)']);

let service: TestService;
let served: Served;
/** The same behind narrow limits: 3 rejected payments of a payer and 8 of an address, in a minute that does not end. */
let limited: Served;
/** Runs after a payment was verified and before it is settled. */
let betweenVerifyAndSettle: () => Promise<void>;
let rpcUrl: string;
let deployer: LocalAccount;
let walletOf: Awaited<ReturnType<typeof walletFactory>>;
let balance: ReturnType<typeof stablecoins>;

beforeAll(async () => {
  service = await unresolvedService(2);
  service.progress.complete();
  rpcUrl = service.infrastructure.rpcUrl;
  served = await serve(
    { http: hooked(service.http), appOptions: { ...service.appOptions, trustProxy: 1 } },
    allRoutes(hooked(service.http)),
  );
  const limits = createRateLimits({
    counts: createRequestCountStore(service.database.db),
    limits: { public: 8, wallet: 1_000, rpc: 3, tasks: 1_000 },
    now: () => new Date(0),
    log: service.log,
  });
  limited = await serve({ http: service.http, appOptions: { ...service.appOptions, limits, trustProxy: 1 } });
  deployer = await fundedKey();
  walletOf = await walletFactory({ client: createPublicClient({ transport: http(rpcUrl) }) }, rpcUrl, deployer);
  balance = stablecoins(service);
});
afterAll(async () => {
  await served?.close();
  await limited?.close();
  await service?.stop();
});
beforeEach(() => {
  betweenVerifyAndSettle = async () => undefined;
});

/** The parts of the service, with a pause in each answer that is made. */
function hooked(parts: Services): Services {
  const { market } = parts;
  const coverage = async () => {
    await betweenVerifyAndSettle();
    return market.coverage();
  };
  const slow = new Proxy(market, { get: (target, name) => (name === 'coverage' ? coverage : Reflect.get(target, name)) });
  const runSkill = createSkillRunner({ ...parts, market: slow });
  const toUrl = (path: string) => joinUrl(parts.publicUrl, path);
  return { ...parts, market: slow, paidCalls: createPaidCalls({ sales: parts.commerce.sales, runSkill, toUrl }) };
}

async function fundedKey(): Promise<LocalAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await callJsonRpc(rpcUrl, 'anvil_setBalance', account.address, '0xde0b6b3a7640000');
  return account;
}

const coin = () => service.http.chain.addresses.stablecoin;
const mint = (to: Address, value = 10n * PRICE) =>
  sendTransactions(rpcUrl, deployer, [
    { to: coin(), data: encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, value] }) },
  ]);

async function ask(path: string, headers: Record<string, string> = {}, { from = '198.51.100.1', at = served } = {}): Promise<Answer> {
  const response = await fetch(at.url + path, { headers: { 'X-Forwarded-For': from, ...headers } });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() };
}

async function termsOf(): Promise<PaymentRequirements> {
  return readHeader((await ask('/oracle')).headers['payment-required']).accepts[0];
}

async function sign(signing: Omit<Signing, 'requirements'>) {
  return signPayment({ ...signing, requirements: await termsOf() });
}

const send = (payment: unknown, options: { from?: string; at?: Served } = {}) =>
  ask('/oracle', { 'PAYMENT-SIGNATURE': asHeader(payment) }, options);

/** What the wallet that settles has sent and spent so far. */
async function settlements() {
  const facilitator = privateKeyToAccount(rawKey(service.infrastructure.signers.facilitator)).address;
  const [sent, funds] = await Promise.all([
    callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', facilitator, 'latest'),
    callJsonRpc<Hex>(rpcUrl, 'eth_getBalance', facilitator, 'latest'),
  ]);
  return { sent: Number(sent), funds: BigInt(funds) };
}

/** An answer without what differs between any two requests. */
function comparable({ status, headers, body }: Answer) {
  const { date, 'x-request-id': requestId, ratelimit, 'content-length': length, etag, 'payment-required': required, ...rest } = headers;
  const { requestId: id, ...problem } = body;
  const terms = readHeader(required);
  return { status, headers: rest, body: problem, terms };
}

describe('a contract wallet that is valid in simulations only', () => {
  const HOSTILE: WalletBehaviour[] = [
    'valid without gas price',
    'valid without origin',
    'valid with spare gas',
    'burns gas',
    'never ends',
    'reverts',
    'invalid',
  ];

  it.each(HOSTILE)('pays nothing, gets no answer and costs no gas: %s', async (behaviour) => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const wallet = await walletOf(owner.address, behaviour);
    await wallet.deploy();
    await mint(wallet.address);
    await expectNothing(() => sign({ account: owner, change: { from: wallet.address } }));
  });

  it('is rejected where an EOA delegates to it (EIP-7702)', async () => {
    const key = privateKeyToAccount(generatePrivateKey());
    const code = await walletOf(key.address, 'valid without gas price');
    await code.deploy();
    await delegateTo(code.address, { rpcUrl, chainId: service.http.chain.chainId, key, sender: deployer });
    await mint(key.address);
    await expectNothing(() => sign({ account: key }));
  });

  it('is rejected where its signature deploys it (ERC-6492)', async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const wallet = await walletOf(owner.address, 'honest');
    await mint(wallet.address);
    await expectNothing(async () => {
      const payment = await sign({ account: owner, change: { from: wallet.address } });
      payment.payload.signature = wallet.wrapped(payment.payload.signature);
      return payment;
    });
  });

  it('while an honest one is served, plain or wrapped after deployment', async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const wallet = await walletOf(owner.address, 'honest');
    await wallet.deploy();
    await mint(wallet.address);
    for (const form of [(signature: Hex) => signature, wallet.wrapped]) {
      const payment = await sign({ account: owner, change: { from: wallet.address } });
      payment.payload.signature = form(payment.payload.signature);
      const { status, body } = await withSignal(service, 'BUY', () => send(payment));
      expect([status, body.signal], JSON.stringify(body)).toEqual([200, 'BUY']);
    }
  });
});

/** The same refusal whatever the forecast says, and nothing sent to the chain. */
async function expectNothing(payment: () => Promise<unknown>): Promise<void> {
  const before = await settlements();
  const [buy, hold] = [
    await withSignal(service, 'BUY', async () => send(await payment())),
    await withSignal(service, 'HOLD', async () => send(await payment())),
  ];
  expect(buy, JSON.stringify(buy.body)).toMatchObject({ status: 402, body: { code: 'PAYMENT_REQUIRED', field: 'payment' } });
  expect(comparable(hold)).toEqual(comparable(buy));
  expect(JSON.stringify(buy.body)).not.toMatch(/revert|viem|0x08c379a0|out of ?gas/i);
  expect(await settlements()).toEqual(before);
}

describe('an authorization about to expire', () => {
  it('is rejected for any forecast, naming validBefore and the minimum', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    await mint(account.address);
    const seconds = Math.floor(Date.now() / 1_000);
    const short = () => sign({ account, change: { validBefore: String(seconds + 50) } });
    const [buy, hold] = [
      await withSignal(service, 'BUY', async () => send(await short())),
      await withSignal(service, 'HOLD', async () => send(await short())),
    ];
    expect(comparable(hold)).toEqual(comparable(buy));
    expect(buy).toMatchObject({
      status: 402,
      body: { error: 'invalid_exact_evm_payload_authorization_valid_before', reason: 'expires_too_soon', field: 'payment' },
    });
    expect(buy.body.detail).toContain('validBefore');
    expect(buy.body.detail).toContain('60');
  });
});

describe('a payer with a failed settlement', () => {
  /** Takes the money away once the payment was found good. */
  async function takesBack(account: LocalAccount, from?: string): Promise<Answer> {
    await mint(account.address, PRICE);
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [deployer.address, PRICE] });
    betweenVerifyAndSettle = () => sendTransactions(rpcUrl, account, [{ to: coin(), data }]);
    const failed = await withSignal(service, 'BUY', async () => send(await sign({ account }), { from }));
    betweenVerifyAndSettle = async () => undefined;
    return failed;
  }

  it('gets no answer, and pays like any other from then on', async () => {
    const account = await fundedKey();
    const failed = await takesBack(account);
    expect(failed, JSON.stringify(failed.body)).toMatchObject({ status: 402 });
    expect(failed.body).not.toHaveProperty('signal');
    await mint(account.address, PRICE);
    const before = await balance(account.address);
    const hold = await withSignal(service, 'HOLD', async () => send(await sign({ account })));
    expect(hold).toMatchObject({ status: 200, body: { signal: 'HOLD', payment: { amount: '1000' } } });
    expect(before - (await balance(account.address))).toBe(PRICE);
  });

  it('is rejected for a day after three failures, before any chain call, unlike others at its address', async () => {
    const from = '198.51.100.40';
    const account = await fundedKey();
    for (let times = 0; times < 3; times++) expect((await takesBack(account, from)).status).toBe(402);
    await mint(account.address, PRICE);
    const refused = await send(await sign({ account }), { from });
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', policy: 'unsettled-payer', limit: 3 } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000);
    expect((await send(await sign({ account }), { from: '198.51.100.41' })).status).toBe(429);
    const other = privateKeyToAccount(generatePrivateKey());
    await mint(other.address);
    expect((await send(await sign({ account: other }), { from })).status).toBe(200);
  });
});

describe('rejected payments', () => {
  const poor = () => sign({ account: privateKeyToAccount(generatePrivateKey()) });
  const at = (from: string) => ({ at: limited, from });

  it('count per payer, not for others behind the same address', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const from = '198.51.100.50';
    for (const status of [402, 402, 402, 429, 429]) expect((await send(await sign({ account }), at(from))).status).toBe(status);
    const other = privateKeyToAccount(generatePrivateKey());
    await mint(other.address);
    expect((await send(await sign({ account: other }), at(from))).status).toBe(200);
  });

  it('do not lock out a wallet that another client names as payer', async () => {
    const victim = privateKeyToAccount(generatePrivateKey());
    await mint(victim.address);
    const forged = () => sign({ account: privateKeyToAccount(generatePrivateKey()), change: { from: victim.address } });
    const from = '198.51.100.51';
    for (const status of [402, 402, 402, 429]) expect((await send(await forged(), at(from))).status).toBe(status);
    for (const address of [from, '198.51.100.52']) expect((await send(await sign({ account: victim }), at(address))).status).toBe(200);
  });

  it('of invented payers count per address', async () => {
    const from = '198.51.100.53';
    for (let payers = 0; payers < 8; payers++) expect((await send(await poor(), at(from))).status).toBe(402);
    expect(await send(await poor(), at(from))).toMatchObject({ status: 429, body: { policy: 'payments', limit: 8 } });
    expect((await send(await poor(), at('198.51.100.54'))).status).toBe(402);
  });
});
