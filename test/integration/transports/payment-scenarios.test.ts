import { type Address, createPublicClient, encodeFunctionData, http, type LocalAccount, type PublicClient, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { fundGas, sendTransactions } from '../../../src/dev/local-chain/contracts.ts';
import { PAYING_CLIENTS, type PaidOutcome, type PayingClient } from '../../support/agent-clients/paying.ts';
import { asTier, demoWallets } from '../../support/auth/login.ts';
import { walletFactory } from '../../support/chain/contract-wallet.ts';
import { rawKey } from '../../support/chain/raw-key.ts';
import { smartWallet } from '../../support/chain/smart-wallet.ts';
import { type Buyer, demoBuyer, isReceiptOf, type Money, spentSince } from '../../support/commerce/buyer.ts';
import { inV1 } from '../../support/commerce/payments.ts';
import { signPayment } from '../../support/commerce/x402.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../support/service/service.ts';

const PRICE = { buyer: 1_000n, payee: 1_000n, payments: 1 };
const NOTHING = { buyer: 0n, payee: 0n, payments: 0 };

let service: TestService;
let served: Served;
let buyer: Buyer;
/** Answer of a token holder. */
let truth: Record<string, unknown>;
let before: Money;
let chainClient: PublicClient;
/** Has gas money. */
let deployer: LocalAccount;
let unlistedWallet: Awaited<ReturnType<typeof walletFactory>>;

beforeAll(async () => {
  service = await unresolvedService(1);
  service.progress.complete();
  served = await serve(service);
  buyer = demoBuyer(service);
  const { rpcUrl } = service.infrastructure;
  chainClient = createPublicClient({ transport: http(rpcUrl) });
  deployer = privateKeyToAccount(generatePrivateKey());
  await fundGas(rpcUrl, [deployer.address]);
  unlistedWallet = await walletFactory({ client: chainClient }, rpcUrl, deployer);
  const response = await fetch(`${served.url}/api/svc/skills/predict_btc_direction`, {
    method: 'POST',
    headers: await asTier(service, 'basic'),
  });
  truth = ((await response.json()) as { output: Record<string, unknown> }).output;
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});
beforeEach(async () => {
  before = await buyer.money();
});

const mintAbi = parseAbi(['function mint(address to, uint256 value)']);
const fund = (to: Address) =>
  sendTransactions(service.infrastructure.rpcUrl, deployer, [
    { to: service.http.chain.addresses.stablecoin, data: encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [to, 1_000n] }) },
  ]);
const settledTransactions = () =>
  chainClient.getTransactionCount({ address: privateKeyToAccount(rawKey(service.infrastructure.signers.facilitator)).address });

/** Without what moves with the time of day. */
const lasting = (output: Record<string, unknown> | null) => ({ ...output, ageSeconds: null, nextSignalAt: null });

/** A payment of the demonstration buyer by the terms of the transport. */
async function signed(client: PayingClient, change: Partial<Parameters<typeof signPayment>[0]> = {}) {
  const { accepts } = await client.terms();
  return signPayment({ account: buyer.account, requirements: accepts[0], ...change });
}

interface PaymentScenario {
  name: string;
  run(client: PayingClient): Promise<PaidOutcome>;
  /** Error, or an answer that is paid. */
  expected: { code: string; field: string | null } | 'paid';
}

const BAD_SIGNATURE = `0x${'7'.repeat(64)}`;

/** One table for all transports: what a client sends, and what it gets. */
const SCENARIOS: PaymentScenario[] = [
  { name: 'a payment of version 2', run: async (client) => client.pay(await signed(client)), expected: 'paid' },
  { name: 'a payment of version 1', run: async (client) => client.pay(inV1(await signed(client))), expected: 'paid' },
  {
    name: 'a referral code',
    run: async (client) => client.pay(await signed(client), { ref: 'partner-3' }),
    expected: 'paid',
  },
  {
    name: 'a payment that is sent again',
    async run(client) {
      const payment = await signed(client);
      const [first, second] = await Promise.all([client.pay(payment), client.pay(payment)]);
      const again = await client.pay(payment);
      expect(first).toEqual(again);
      expect(second).toEqual(again);
      return again;
    },
    expected: 'paid',
  },
  {
    name: 'a payment that is sent again for another input',
    async run(client) {
      const payment = await signed(client);
      const { error } = await client.pay(payment);
      expect(error).toBeNull();
      before = await buyer.money();
      return client.pay(payment, { input: { horizon: '2d' } });
    },
    expected: { code: 'CONFLICT', field: 'payment' },
  },
  {
    name: 'an invalid input with a payment',
    run: async (client) => client.pay(await signed(client), { input: { horizon: '9d' } }),
    expected: { code: 'INPUT_INVALID', field: 'horizon' },
  },
  {
    name: 'an unreadable payment',
    run: (client) => client.pay({ x402Version: 2, payload: 'no' }),
    expected: { code: 'PAYMENT_REQUIRED', field: 'payment' },
  },
  {
    name: 'a payment of another amount',
    run: async (client) => client.pay(await signed(client, { change: { value: '999' } })),
    expected: { code: 'PAYMENT_REQUIRED', field: 'payment' },
  },
  {
    name: 'a signature over other values',
    async run(client) {
      const payment = await signed(client);
      payment.payload.authorization.nonce = BAD_SIGNATURE;
      return client.pay(payment);
    },
    expected: { code: 'PAYMENT_REQUIRED', field: 'payment' },
  },
  {
    name: 'a wallet without money',
    run: async (client) => client.pay(await signed(client, { account: demoWallets(service).poor })),
    expected: { code: 'PAYMENT_REQUIRED', field: 'payment' },
  },
  {
    name: 'a payment during the replay of history',
    async run(client) {
      const payment = await signed(client);
      service.progress.replayAhead = true;
      onTestFinished(() => {
        service.progress.replayAhead = false;
      });
      return client.pay(payment);
    },
    expected: { code: 'STEP_WAITING', field: null },
  },
];

describe.each(Object.keys(PAYING_CLIENTS))('over %s', (name) => {
  let client: PayingClient;

  beforeAll(async () => {
    client = await PAYING_CLIENTS[name]!(served.url);
  });
  afterAll(() => client?.close());

  it('the terms are those of every other transport', async () => {
    const [own, reference] = await Promise.all([client.terms(), PAYING_CLIENTS.REST!(served.url).then((rest) => rest.terms())]);
    // Listings and offers are of one resource.
    const { resource, extensions, ...terms } = own;
    const { resource: other, extensions: others, ...expected } = reference;
    expect(terms).toEqual(expected);
    expect(extensions['payment-identifier']).toEqual(others['payment-identifier']);
    expect(resource.description).toBe(other.description);
    expect(resource.url).toContain('predict_btc_direction');
  });

  it.each(SCENARIOS)('$name has the outcome of the table', async ({ run, expected }) => {
    const outcome = await run(client);
    if (expected !== 'paid') {
      expect(outcome.error).toMatchObject(expected);
      expect(await spentSince(buyer, before)).toEqual(NOTHING);
      return;
    }
    expect(outcome.error).toBeNull();
    expect(lasting(outcome.output)).toEqual(lasting(truth));
    expect(outcome.settlement).toMatchObject({ success: true, payer: buyer.account.address });
    expect(await isReceiptOf(outcome.receipt, outcome.output!)).toBe(true);
    expect(await spentSince(buyer, before)).toEqual(PRICE);
  });
});

describe('a wallet that is not deployed', () => {
  /** Its payment, by the terms of a transport. */
  async function ofSmartWallet(client: PayingClient, { isFunded = true, signer }: { isFunded?: boolean; signer?: LocalAccount } = {}) {
    const owner = privateKeyToAccount(generatePrivateKey());
    const { address, wrap } = await smartWallet(chainClient, owner.address);
    if (isFunded) await fund(address);
    const payment = await signed(client, { account: signer ?? owner, change: { from: address } });
    payment.payload.signature = wrap(payment.payload.signature);
    return payment;
  }

  async function ofUnlistedFactory(client: PayingClient) {
    const owner = privateKeyToAccount(generatePrivateKey());
    const { address, wrapped } = await unlistedWallet(owner.address);
    await fund(address);
    const payment = await signed(client, { account: owner, change: { from: address } });
    payment.payload.signature = wrapped(payment.payload.signature);
    return payment;
  }

  const REFUSED: [string, RegExp, (client: PayingClient) => Promise<unknown>][] = [
    ['a factory that is not listed', /factory.*is none that is called/, ofUnlistedFactory],
    ['a signature of another key', /does not deploy|does not accept/, (client) => ofSmartWallet(client, { signer: buyer.account })],
    ['no money', /holds less than 0\.001 USD/, (client) => ofSmartWallet(client, { isFunded: false })],
  ];

  describe.each(Object.keys(PAYING_CLIENTS))('over %s', (name) => {
    let client: PayingClient;

    beforeAll(async () => {
      client = await PAYING_CLIENTS[name]!(served.url);
    });
    afterAll(() => client?.close());

    it('pays, is deployed with its payment, and gets the same answer again', async () => {
      const payment = await ofSmartWallet(client);
      const { from } = payment.payload.authorization;
      const [first, second] = await Promise.all([client.pay(payment), client.pay(payment)]);
      expect(first).toEqual(second);
      expect(first.error).toBeNull();
      expect(lasting(first.output)).toEqual(lasting(truth));
      expect(first.settlement).toMatchObject({ success: true, payer: from });
      expect(await isReceiptOf(first.receipt, first.output!)).toBe(true);
      expect(await chainClient.getCode({ address: from as Address })).toMatch(/^0x[0-9a-f]+$/);
      expect(await spentSince(buyer, before)).toEqual({ buyer: 0n, payee: 1_000n, payments: 1 });
    });

    it.each(REFUSED)('with %s is refused without a transaction', async (_, problem, makePayment) => {
      const payment = await makePayment(client);
      const sent = await settledTransactions();
      const { error } = await client.pay(payment);
      expect(error).toMatchObject({ code: 'PAYMENT_REQUIRED', field: 'payment' });
      expect(error!.message).toMatch(problem);
      expect(error!.suggestedAction).not.toBe('');
      expect(await settledTransactions()).toBe(sent);
      expect(await spentSince(buyer, before)).toEqual(NOTHING);
    });
  });
});

it('one payment buys one answer over all transports', async () => {
  const clients = await Promise.all(Object.values(PAYING_CLIENTS).map((open) => open(served.url)));
  onTestFinished(async () => {
    for (const client of clients) await client.close();
  });
  const payment = await signed(clients[0]!);
  const outcomes = [];
  for (const client of clients) outcomes.push(await client.pay(payment));
  for (const { output, receipt } of outcomes)
    expect({ output, receipt }).toEqual({ output: outcomes[0]!.output, receipt: outcomes[0]!.receipt });
  expect(await spentSince(buyer, before)).toEqual(PRICE);
});
