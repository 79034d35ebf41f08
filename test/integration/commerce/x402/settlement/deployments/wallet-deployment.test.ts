import { type Address, concatHex, type Hex, type LocalAccount, zeroAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { serializeErc6492Signature } from 'viem/utils';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MULTICALL3_ADDRESS } from '../../../../../../src/chain/addresses.ts';
import type { Chain } from '../../../../../../src/chain/client.ts';
import { openJournal } from '../../../../../../src/chain/journal.ts';
import { createWallet } from '../../../../../../src/chain/wallet.ts';
import {
  createLocalFacilitator,
  DeploymentBudget,
  type LocalFacilitatorDeps,
  requireDeploymentContracts,
} from '../../../../../../src/commerce/x402/local-facilitator.ts';
import { getLocalWalletFactory } from '../../../../../../src/dev/local-chain/contracts.ts';
import { connectMongo } from '../../../../../../src/platform/mongo.ts';
import { type TestChain, testChain } from '../../../../../support/chain/chain.ts';
import { type ContractWallet, type WalletBehaviour, walletFactory } from '../../../../../support/chain/contract-wallet.ts';
import { type SmartWallet, smartWallet } from '../../../../../support/chain/smart-wallet.ts';
import { signPayment, type TillBench, tillBench } from '../../../../../support/commerce/x402.ts';
import { type TestDatabase, testDatabase } from '../../../../../support/database/database.ts';

const PRICE = 1_000n;

let chain: TestChain;
let database: TestDatabase;
let connected: Chain;
let bench: TillBench;
/** Wallets of a factory whose repeated deployment reverts, and that may misbehave. */
let contractWallet: (owner: Address, behaviour?: WalletBehaviour) => Promise<ContractWallet>;
let contractFactory: Address;

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
  connected = await chain.connect();
  const deployments = { factories: [getLocalWalletFactory()], maxPerDay: 1_000 };
  bench = await tillBench({ chain, db: database.db, connected, deployments });
  contractWallet = await walletFactory(connected, chain.rpcUrl, chain.deployer);
  contractFactory = (await wrappedBy(await contractWallet(zeroAddress))).factory;
});
afterAll(() => Promise.all([chain.stop(), database.drop()]));

async function wrappedBy({ wrapped }: ContractWallet): Promise<{ factory: Address }> {
  return { factory: `0x${wrapped('0x00').slice(26, 66)}` };
}

const owner = () => privateKeyToAccount(generatePrivateKey());
const sent = () => connected.client.getTransactionCount({ address: chain.accounts.facilitator.address });
const isDeployed = async (address: Address) => ((await connected.client.getCode({ address })) ?? '0x') !== '0x';
const received = () => bench.balance(bench.requirements.payTo as Address);

async function funded(account: LocalAccount): Promise<SmartWallet> {
  const wallet = await smartWallet(connected.client, account.address);
  await bench.mint(wallet.address, 10n * PRICE);
  return wallet;
}

/** A payment of a wallet that is not deployed, in the wrapper of its signature. */
async function signedBy(account: LocalAccount, { address, wrap }: { address: Address; wrap(signature: Hex): Hex }) {
  const payment = await signPayment({ account, requirements: bench.requirements, change: { from: address } });
  payment.payload.signature = wrap(payment.payload.signature);
  return payment;
}

/** A seller with other bounds. */
async function sellerWith(change: Partial<Pick<LocalFacilitatorDeps, 'gasBudget' | 'deployments'>>) {
  const wallet = createWallet({
    chain: connected,
    journal: await openJournal(database.db),
    role: 'facilitator',
    account: chain.accounts.facilitator,
  });
  const { deployments, log } = bench;
  const gasBudget = { currencyUsd: null, maxCents: 10 };
  return bench.another({ facilitator: createLocalFacilitator({ chain: connected, wallet, gasBudget, deployments, log, ...change }) });
}

async function expectRefused(payment: unknown, reason: string, sales = bench.sales): Promise<void> {
  const before = await sent();
  const made = bench.made();
  await expect(sales.sell(bench.call(payment))).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason });
  expect([await sent(), bench.made()]).toEqual([before, made]);
}

describe('a wallet that is not deployed', () => {
  it('pays, and is deployed by the transaction of its payment', async () => {
    const account = owner();
    const wallet = await funded(account);
    const before = { sent: await sent(), received: await received() };
    const sold = await bench.sales.sell(bench.call(await signedBy(account, wallet)));
    expect(sold.payment).toMatchObject({ payer: wallet.address.toLowerCase(), amountMicros: PRICE });
    expect([await sent(), await received()]).toEqual([before.sent + 1, before.received + PRICE]);
    expect(await isDeployed(wallet.address)).toBe(true);
    const { to, logs } = await connected.client.getTransactionReceipt({ hash: sold.payment!.txHash });
    expect(to).toBe(MULTICALL3_ADDRESS.toLowerCase());
    expect(logs.length).toBeGreaterThan(0);
  });

  it('gets the same answer for a repeated payment, deployed and paid once', async () => {
    const account = owner();
    const payment = await signedBy(account, await funded(account));
    const before = { sent: await sent(), received: await received() };
    const [first, second] = await Promise.all([bench.sales.sell(bench.call(payment)), bench.sales.sell(bench.call(payment))]);
    const third = await bench.sales.sell(bench.call(payment));
    for (const again of [second, third]) expect(again.body).toEqual(first.body);
    expect([await sent(), await received()]).toEqual([before.sent + 1, before.received + PRICE]);
  });

  it('pays again as a deployed wallet, by a plain transfer', async () => {
    const account = owner();
    const wallet = await funded(account);
    await bench.sales.sell(bench.call(await signedBy(account, wallet)));
    for (const wrap of [wallet.wrap, (signature: Hex) => signature]) {
      const { payment } = await bench.sales.sell(bench.call(await signedBy(account, { ...wallet, wrap })));
      const { to } = await connected.client.getTransactionReceipt({ hash: payment!.txHash });
      expect(to).toBe(bench.requirements.asset.toLowerCase());
    }
  });

  it('pays when another sender deploys it between verification and settlement', async () => {
    const account = owner();
    const wallet = await contractWallet(account.address);
    await bench.mint(wallet.address, PRICE);
    const sales = await sellerWith({ deployments: { ...bench.deployments, factories: [contractFactory] } });
    const { answer } = bench.call(null);
    const call = bench.call(await signedBy(account, { ...wallet, wrap: wallet.wrapped }), {
      async answer() {
        await wallet.deploy();
        return answer();
      },
    });
    expect((await sales.sell(call)).payment).toMatchObject({ amountMicros: PRICE });
  });
});

describe('is refused before anything is signed', () => {
  it('with a factory that is not listed', async () => {
    const account = owner();
    const wallet = await contractWallet(account.address);
    await bench.mint(wallet.address, PRICE);
    await expectRefused(await signedBy(account, { ...wallet, wrap: wallet.wrapped }), 'eip6492_factory_not_allowed');
    const none = await sellerWith({ deployments: { ...bench.deployments, factories: [] } });
    const other = owner();
    await expectRefused(await signedBy(other, await funded(other)), 'eip6492_factory_not_allowed', none);
  });

  it('with call data of the factory beyond the limit', async () => {
    const account = owner();
    const { address, creation } = await funded(account);
    const data = concatHex([creation, `0x${'00'.repeat(2_048)}`]);
    const wrap = (signature: Hex) => serializeErc6492Signature({ address: getLocalWalletFactory(), data, signature });
    await expectRefused(await signedBy(account, { address, wrap }), 'eip6492_factory_data_too_large');
  });

  it('with a signature of another key, or of another wallet', async () => {
    const account = owner();
    const wallet = await funded(account);
    await expectRefused(await signedBy(owner(), wallet), 'eip6492_signature_invalid');
    const { wrap } = await smartWallet(connected.client, account.address, 7n);
    await expectRefused(await signedBy(account, { ...wallet, wrap }), 'eip6492_signature_invalid');
    expect(await isDeployed(wallet.address)).toBe(false);
  });

  it('with the deployment of another wallet around the signature of a key', async () => {
    const account = owner();
    await bench.mint(account.address, PRICE);
    const other = await smartWallet(connected.client, account.address);
    await expectRefused(await signedBy(account, { ...other, address: account.address }), 'invalid_exact_evm_signature');
    expect(await isDeployed(other.address)).toBe(false);
  });

  it('without the money, naming that', async () => {
    const account = owner();
    const wallet = await smartWallet(connected.client, account.address);
    await expectRefused(await signedBy(account, wallet), 'invalid_exact_evm_insufficient_balance');
  });

  it('when deployment and transfer cost more than the price, though the transfer alone does not', async () => {
    const account = owner();
    const wallet = await funded(account);
    const gasPrice = await connected.client.getGasPrice();
    // A transfer of 150,000 gas costs just the price: PRICE is in millionths of a dollar.
    const currencyUsd = Number((PRICE * 10n ** 12n) / (150_000n * gasPrice));
    const sales = await sellerWith({ gasBudget: { currencyUsd, maxCents: 10 } });
    await expectRefused(await signedBy(account, wallet), 'eip6492_deployment_too_costly', sales);
    await bench.sales.sell(bench.call(await signedBy(account, wallet)));
    expect((await sales.sell(bench.call(await signedBy(account, { ...wallet, wrap: (signature) => signature })))).payment).not.toBeNull();
  });

  it.each(['valid without gas price', 'valid without origin', 'never ends', 'reverts', 'invalid'] as const)(
    'where its code is valid in simulations only: %s',
    async (behaviour) => {
      const account = owner();
      const wallet = await contractWallet(account.address, behaviour);
      await bench.mint(wallet.address, PRICE);
      const sales = await sellerWith({ deployments: { ...bench.deployments, factories: [contractFactory] } });
      await expectRefused(await signedBy(account, { ...wallet, wrap: wallet.wrapped }), 'eip6492_signature_invalid', sales);
      expect(await isDeployed(wallet.address)).toBe(false);
    },
  );
});

describe('the budget of deployments', () => {
  beforeEach(() => database.db.collection('x402_deployments').deleteMany({}));

  /** Payments of wallets that are not deployed, one for each address. */
  async function payFrom(addresses: string[], sales: TillBench['sales']) {
    const payments: unknown[] = [];
    for (const _ of addresses) {
      const account = owner();
      payments.push(await signedBy(account, await funded(account)));
    }
    const before = await sent();
    const sell = (address: string, index: number) => sales.sell(bench.call(payments[index], { address }));
    const outcomes = await Promise.allSettled(addresses.map(sell));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    return { refused, deployed: (await sent()) - before };
  }

  it('makes further ones wait, also when they arrive together', async () => {
    const budget = new DeploymentBudget(database.db, 2);
    const sales = await sellerWith({ deployments: { ...bench.deployments, budget } });
    const { refused, deployed } = await payFrom(['192.0.2.1', '198.51.100.1', '203.0.113.1', '203.0.114.1'], sales);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'STEP_WAITING', retryAfterSeconds: expect.any(Number) });
    // Concurrent ones may each see the other's reservation.
    expect(refused.length).toBeGreaterThanOrEqual(2);
    expect(deployed).toBe(4 - refused.length);
  });

  it('has a share per address and range, so that one cannot use it up', async () => {
    const budget = new DeploymentBudget(database.db, 20);
    const sales = await sellerWith({ deployments: { ...bench.deployments, budget } });
    expect(await payFrom(['192.0.2.1'], sales)).toMatchObject({ deployed: 1 });
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']) await payFrom([address], sales);
    // A twentieth for an address, a tenth for its /24.
    expect(await database.db.collection('x402_deployments').countDocuments()).toBe(2);
    const { refused } = await payFrom(['192.0.2.9'], sales);
    expect(refused[0]).toMatchObject({
      code: 'STEP_WAITING',
      retryAfterSeconds: expect.any(Number),
      details: { scope: '/24', limit: 2 },
      suggestedAction: expect.stringMatching(/Deploy the wallet first/),
    });
    expect(await payFrom(['198.51.100.1'], sales)).toMatchObject({ deployed: 1 });
  });

  it('keeps a reserve for ranges without a deployment, over connections of several processes', async () => {
    const other = await connectMongo(database.uri);
    const now = new Date();
    const budgets = [database.db, other.client.db(database.db.databaseName)].map((db) => new DeploymentBudget(db, 40));
    const reserve = (key: string, address: string) => budgets[key.length % 2]!.reserve(key, { address, now });
    const taken: boolean[] = [];
    for (let index = 0; index < 40; index++)
      taken.push(
        await reserve(`flood-${index}`, `10.${Math.floor(index / 5)}.0.${index % 5}`).then(
          () => true,
          () => false,
        ),
      );
    // Of eight /24s, four each: 30 of the open part, then nothing.
    expect(taken.filter(Boolean)).toHaveLength(30);
    await reserve('fresh', '192.0.2.1');
    await expect(reserve('second', '192.0.2.1')).rejects.toMatchObject({ details: { scope: 'all', limit: 30 } });
    await other.close();
  });

  it('does not count one that is refused before it is signed, nor a repetition', async () => {
    const budget = new DeploymentBudget(database.db, 1);
    const here = { address: '192.0.2.1', now: new Date() };
    await budget.reserve('one', here);
    await budget.reserve('one', here);
    await expect(budget.reserve('two', here)).rejects.toMatchObject({ code: 'STEP_WAITING', retryAfterSeconds: 86_400 });
    await budget.release('one');
    await budget.reserve('two', here);
    await expect(budget.requireRoom(here)).rejects.toMatchObject({ code: 'STEP_WAITING' });
    await budget.requireRoom({ ...here, now: new Date(here.now.getTime() + 86_400_001) });
  });
});

it('a factory without code, and a chain without Multicall3, are named at the start', async () => {
  const factory = getLocalWalletFactory();
  await requireDeploymentContracts(connected, [factory, contractFactory]);
  const missing = privateKeyToAccount(generatePrivateKey()).address;
  await expect(requireDeploymentContracts(connected, [factory, missing])).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    field: 'X402_WALLET_FACTORIES',
    message: expect.stringContaining(missing),
  });
  const revert = await chain.snapshot();
  await chain.rpc('anvil_setCode', MULTICALL3_ADDRESS, '0x');
  await expect(requireDeploymentContracts(connected, [factory])).rejects.toMatchObject({
    message: expect.stringContaining(MULTICALL3_ADDRESS),
  });
  await requireDeploymentContracts(connected, []);
  await revert();
});
