import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, createWalletClient, http, parseAbi, publicActions } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SignedPayment } from '../../../../src/commerce/payment-signer.ts';
import { HOUR_MS } from '../../../../src/forecast/day.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { cli } from '../../../support/service/cli.ts';

const USDC: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const coinAbi = parseAbi([
  'function mint(address to, uint256 value)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

let chain: TestChain;
let seller: Server;
let home: string;
beforeAll(async () => {
  chain = await testChain();
  await asPayer((payer) => ({ functionName: 'mint', args: [payer, 1_000_000n] }));
  home = await mkdtemp(join(tmpdir(), 'oracle-cli-ended-'));
  seller = createServer((request, response) => void answer(request.headers['payment-signature'], response));
  await once(seller.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  seller.closeAllConnections();
  seller.close();
  await chain.stop();
  await removeFolder(home);
});

/** Payments that the seller received, its offer, and its action before it rejects a payment. */
let seen: SignedPayment['payload']['authorization'][];
let asset: Address;
let onPayment: (payment: SignedPayment) => void | Promise<void>;
let clock: number;
let environment: Record<string, string>;
beforeEach(async () => {
  [seen, asset, clock, onPayment] = [[], chain.addresses.stablecoin, Date.now(), () => {}];
  environment = { XDG_CONFIG_HOME: await mkdtemp(join(home, 'config-')), NO_COLOR: '1', PRIVATE_KEY: chain.keys.stranger };
});

async function answer(header: unknown, response: import('node:http').ServerResponse): Promise<void> {
  if (typeof header === 'string') {
    const payment = JSON.parse(Buffer.from(header, 'base64').toString()) as SignedPayment;
    seen.push(payment.payload.authorization);
    await onPayment(payment);
  }
  const payTo = chain.accounts.provider.address;
  const network = asset === USDC ? 'eip155:8453' : `eip155:${chain.chainId}`;
  const terms = { ...{ scheme: 'exact', network, amount: '10000', asset, payTo }, maxTimeoutSeconds: 300 };
  const required = { x402Version: 2, accepts: [{ ...terms, extra: { name: 'USDC', version: '2' } }] };
  response.writeHead(402, { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') });
  response.end(JSON.stringify({ code: 'PAYMENT_REQUIRED', detail: 'Nothing came in' }));
}

async function pay(...words: string[]) {
  const url = `http://127.0.0.1:${(seller.address() as AddressInfo).port}`;
  const run = await cli(['pay', 'premium', '--yes', '--url', url, ...words], { environment, now: () => new Date(clock) });
  return { ...run, err: run.err.replaceAll('\n', ' ') };
}

const onChain = () => ['--asset', chain.addresses.stablecoin, '--rpc', chain.rpcUrl];
const kept = async () => (await readdir(join(environment.XDG_CONFIG_HOME, 'bitcoin-signal-oracle/payments'))).length;
const nonces = () => new Set(seen.map(({ nonce }) => nonce)).size;

type Call = { functionName: 'mint' | 'transferWithAuthorization'; args: readonly unknown[] };

async function asPayer(callOf: (payer: Address) => Call): Promise<void> {
  const client = createWalletClient({ account: chain.accounts.stranger, transport: http(chain.rpcUrl) }).extend(publicActions);
  const call = { address: chain.addresses.stablecoin, abi: coinAbi, chain: null, ...callOf(client.account.address) };
  await client.waitForTransactionReceipt({ hash: await client.writeContract(call as never), pollingInterval: 20 });
}

function take({ payload }: SignedPayment): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, payload.signature];
  return asPayer(() => ({ functionName: 'transferWithAuthorization', args }));
}

it('pays no second time when the seller used the payment and rejected it', async () => {
  onPayment = async (payment) => {
    if (seen.length === 1) await take(payment);
    clock = Date.now() + HOUR_MS;
  };
  for (const _ of ['first', 'next']) {
    const { code, out, err } = await pay(...onChain());
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('CONFLICT: The payment was used on chain, but the service returned no answer');
    expect(err).toContain(seen[0].nonce);
    expect(err).not.toContain('Nothing was paid');
  }
  expect([seen.length, nonces(), await kept()]).toEqual([2, 1, 1]);
});

it('deletes a payment that expired unused according to the chain', async () => {
  clock = Date.now() - HOUR_MS;
  onPayment = () => {
    clock = Date.now();
  };
  const { code, err } = await pay(...onChain());
  expect(code).toBe(1);
  expect(err).toContain('PAYMENT_REQUIRED: Nothing came in');
  expect(err).toContain('Nothing was paid: the payment expired unused according to the chain.');
  expect(await kept()).toBe(0);
});

it('resends a payment that is still valid by the clock of the chain', async () => {
  onPayment = () => {
    clock = Date.now() + HOUR_MS;
  };
  for (const _ of ['first', 'next']) {
    const { code, err } = await pay(...onChain());
    expect(code).toBe(1);
    expect(err).toContain('By the clock of the chain the payment may still be used');
  }
  expect([seen.length, nonces(), await kept()]).toEqual([2, 1, 1]);
});

it('reports an unknown outcome without --rpc and names the service as the source', async () => {
  asset = USDC;
  onPayment = () => {
    clock = Date.now() + HOUR_MS;
  };
  const first = await pay();
  expect(first).toMatchObject({ code: 1, err: expect.stringContaining('It is not known whether it was paid') });
  expect(await kept()).toBe(1);
  const next = await pay();
  expect(next.err).toContain('Only the service claims that it was not used; --rpc checks the chain. A new one is signed.');
  expect(next.err).not.toContain('expired unused according to the chain');
  expect([seen.length, nonces()]).toEqual([3, 2]);
});

it('reports an unknown outcome when the chain does not answer', async () => {
  const { stablecoin } = chain.addresses;
  const contracts = { eas: stablecoin, schemaRegistry: stablecoin, stablecoin };
  const wallets = { buyer: { privateKey: chain.keys.stranger } };
  const demo = async () => ({ rpcUrl: 'http://127.0.0.1:9', chainId: 84532, contracts, wallets });
  onPayment = () => {
    clock = Date.now() + HOUR_MS;
  };
  const { PRIVATE_KEY: _, ...others } = environment;
  const words = ['pay', 'premium', '--yes', '--wallet', 'buyer', '--url', `http://127.0.0.1:${(seller.address() as AddressInfo).port}`];
  const { code, err } = await cli(words, { environment: others, demo, now: () => new Date(clock) });
  expect(code).toBe(1);
  expect(err.replaceAll('\n', ' ')).toContain('It is not known whether it was paid');
  expect(await kept()).toBe(1);
});

it.each([
  ['an endpoint to look at it', () => ['--asset', chain.addresses.stablecoin], '--asset: requires --rpc'],
  ['six decimals', () => ['--asset', chain.addresses.gateToken, '--rpc', chain.rpcUrl], '--asset: has 18 decimals'],
  ['to be a coin', () => ['--asset', USDC, '--rpc', chain.rpcUrl], `--asset: there is no coin at ${USDC} on chain 84532`],
])('--asset requires %s', async (_, words, problem) => {
  expect(await pay(...words())).toMatchObject({ code: 2, err: expect.stringContaining(problem) });
  expect(seen).toEqual([]);
});
