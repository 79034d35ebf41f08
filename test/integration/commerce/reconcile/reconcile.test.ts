import {
  type Abi,
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hash,
  type Hex,
  http,
  keccak256,
  parseAbi,
  stringToHex,
  zeroAddress,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/client.ts';
import { agentCommerceAbi } from '../../../../src/chain/erc8183.ts';
import { findFirstBlockSince } from '../../../../src/chain/rpc.ts';
import type { SettledPayment } from '../../../../src/commerce/ledger.ts';
import { PurchaseStore } from '../../../../src/commerce/purchases.ts';
import {
  createPaymentTraces,
  formatReconciliation,
  isBalanced,
  type ReconcileDeps,
  reconcile,
  serializeReconciliation,
} from '../../../../src/commerce/reconcile.ts';
import { fundGas } from '../../../../src/dev/local-chain/contracts.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { signPayment, type TillBench, tillBench } from '../../../support/commerce/x402.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { spawnNode } from '../../../support/service/service.ts';

let chain: TestChain;
let database: TestDatabase;
let connected: Chain;
let bench: TillBench;
let store: PurchaseStore;
let parts: ReconcileDeps;
const payee = privateKeyToAccount(generatePrivateKey()).address;
const stranger = privateKeyToAccount(generatePrivateKey());

const token = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
]);
const jobs = [
  ...agentCommerceAbi,
  ...parseAbi([
    'function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)',
    'function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)',
    'function complete(uint256 jobId, bytes32 reason, bytes optParams)',
  ]),
];

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
  connected = await chain.connect();
  bench = await tillBench({ chain, db: database.db, connected });
  await fundGas(chain.rpcUrl, [bench.buyer.address, stranger.address]);
  await bench.mint(stranger.address, 50_000_000n);
  store = new PurchaseStore(database.db);
  parts = {
    chain: connected,
    ledger: bench.ledger,
    merchant: { ...bench.merchant, payee },
    provider: bench.merchant.payee,
    traces: createPaymentTraces({ chainId: chain.chainId, claims: bench.claims, purchases: store }),
    now: () => new Date(),
    graceMs: 0,
  };
});
afterAll(async () => {
  await chain.stop();
  await database.drop();
});

let since: bigint;
beforeEach(async () => {
  since = (await connected.client.getBlockNumber()) + 1n;
  for (const name of ['payments', 'purchases', 'x402_payments']) await database.db.collection(name).deleteMany({});
});

type Account = typeof stranger;

async function write(
  account: Account | TillBench['buyer'],
  address: Address,
  abi: Abi,
  functionName: string,
  args: unknown[],
): Promise<Hash> {
  const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) });
  const hash = await wallet.writeContract({ chain: null, address, abi, functionName, args });
  const { status } = await connected.client.waitForTransactionReceipt({ hash });
  expect(status, functionName).toBe('success');
  return hash;
}

const transfer = (to: Address, value: bigint, from: Account | TillBench['buyer'] = bench.buyer) =>
  write(from, bench.merchant.asset, token, 'transfer', [to, value]);

async function settledAt(hash: Hash): Promise<Date> {
  const { blockNumber } = await connected.client.getTransactionReceipt({ hash });
  return new Date(Number((await connected.client.getBlock({ blockNumber })).timestamp) * 1_000);
}

/** A transfer that bought something, and is booked. */
async function bought(value: bigint, change: Partial<SettledPayment> = {}): Promise<Hash> {
  const txHash = await transfer(payee, value);
  await bench.ledger.record({
    ...{ cause: { kind: 'transfer' }, channel: 'purchase', offering: 'svc_alpha_brief', amountMicros: value, ref: null, txHash },
    ...{ asset: bench.merchant.asset, payer: bench.buyer.address, payee, resource: null, settledAt: await settledAt(txHash) },
    ...change,
  });
  return txHash;
}

/** An x402 payment through the sales service. */
async function paidRequest(): Promise<Hash> {
  const payment = await signPayment({ account: bench.buyer, requirements: bench.requirements });
  return (await bench.sales.sell(bench.call(payment))).payment!.txHash;
}

/** A job that was completed by its buyer. */
async function completedJob(budget: bigint): Promise<{ jobId: bigint; txHash: Hash; contract: Address }> {
  const contract = connected.addresses.agentCommerce!;
  const { buyer } = bench;
  const provider = chain.accounts.provider;
  const { timestamp } = await connected.client.getBlock();
  await write(buyer, contract, jobs, 'createJob', [provider.address, buyer.address, timestamp + 3_600n, 'a job', zeroAddress]);
  const counter = parseAbi(['function jobCounter() view returns (uint256)']);
  const jobId = await connected.client.readContract({ address: contract, abi: counter, functionName: 'jobCounter' });
  await write(provider as Account, contract, jobs, 'setBudget', [jobId, budget, '0x']);
  await write(buyer, bench.merchant.asset, token, 'approve', [contract, budget]);
  await write(buyer, contract, jobs, 'fund', [jobId, budget, '0x']);
  await write(provider as Account, contract, jobs, 'submit', [jobId, keccak256(stringToHex('it')), '0x']);
  const txHash = await write(buyer, contract, jobs, 'complete', [jobId, keccak256('0x'), '0x']);
  return { jobId, txHash, contract };
}

async function bookJob({ jobId, txHash, contract }: { jobId: bigint; txHash: Hash; contract: Address }, amountMicros: bigint) {
  await bench.ledger.record({
    ...{
      cause: { kind: 'job', contract, jobId },
      channel: 'agent-commerce',
      offering: 'svc_market_context',
      amountMicros,
      ref: null,
      txHash,
    },
    ...{ asset: bench.merchant.asset, payer: bench.buyer.address, payee: bench.merchant.payee, resource: null },
    settledAt: await settledAt(txHash),
  });
}

const run = (change: Partial<ReconcileDeps> = {}, from = since) => reconcile({ ...parts, ...change }, from);

describe('reconcile', () => {
  it('is equal to the unit after payments of all channels', async () => {
    const held = async () => (await bench.balance(payee)) + (await bench.balance(bench.merchant.payee));
    const before = await held();
    await bought(1_500_000n);
    await paidRequest();
    await paidRequest();
    await bookJob(await completedJob(250_000n), 250_000n);
    const report = await run();
    expect(report).toMatchObject({ differences: [], underWay: [], unclaimed: [], receivedMicros: 1_752_000n });
    expect(report.channels).toEqual([
      { channel: 'purchase', payments: 1, bookedMicros: 1_500_000n, chainMicros: 1_500_000n },
      { channel: 'agent-commerce', payments: 1, bookedMicros: 250_000n, chainMicros: 250_000n },
      { channel: 'x402', payments: 2, bookedMicros: 2_000n, chainMicros: 2_000n },
    ]);
    expect(report.receivedMicros).toBe((await held()) - before);
    expect(isBalanced(report)).toBe(true);
    expect(formatReconciliation(report)).toMatch(/all +4 +1752000 +1752000 +1\.752\n[\s\S]*Equal to the unit\.\n$/);
    expect(JSON.parse(serializeReconciliation(report))).toMatchObject({
      equal: true,
      receivedMicros: '1752000',
      toBlock: report.toBlock.toString(),
    });
  });

  it('lists unclaimed transfers without a difference', async () => {
    await bought(1_500_000n);
    const txHash = await transfer(payee, 7n, stranger);
    const toProvider = await transfer(bench.merchant.payee, 3n, stranger);
    const report = await run();
    expect(report.unclaimed).toMatchObject([
      { txHash, from: stranger.address.toLowerCase(), to: payee.toLowerCase(), amountMicros: 7n },
      { txHash: toProvider, amountMicros: 3n },
    ]);
    expect(isBalanced(report)).toBe(true);
    expect(report.receivedMicros).toBe(1_500_010n);
    expect(formatReconciliation(report)).toContain(`0.000007 USD from ${stranger.address.toLowerCase()} in ${txHash}`);
  });

  it('is balanced for an empty ledger and a chain without transfers', async () => {
    await chain.mine();
    expect(await run()).toMatchObject({ differences: [], unclaimed: [], receivedMicros: 0n });
  });
});

describe('a difference is reported for', () => {
  const wrong = async (change: Partial<ReconcileDeps> = {}) => {
    const report = await run(change);
    expect(isBalanced(report)).toBe(false);
    expect(formatReconciliation(report)).toContain('NOT EQUAL');
    return report.differences;
  };

  it('an entry without a transaction', async () => {
    await bought(1n, { txHash: keccak256('0x01') });
    const differences = await wrong();
    expect(differences).toMatchObject([
      { kind: 'NOT_ON_CHAIN', bookedMicros: 1n, chainMicros: null, reason: 'there is no such transaction' },
    ]);
  });

  it('an entry whose transaction reverted', async () => {
    const wallet = createWalletClient({ account: stranger, transport: http(chain.rpcUrl) });
    const data = encodeFunctionData({ abi: token, functionName: 'transfer', args: [payee, 10n ** 15n] });
    const txHash = await wallet.sendTransaction({ chain: null, to: bench.merchant.asset, data, gas: 200_000n });
    await connected.client.waitForTransactionReceipt({ hash: txHash });
    await bought(1n, { txHash, payer: stranger.address });
    expect(await wrong()).toMatchObject([{ kind: 'NOT_ON_CHAIN', txHash, reason: 'the transaction has failed' }]);
  });

  it('an entry with another payer', async () => {
    await bought(5n, { payer: stranger.address });
    expect(await wrong()).toMatchObject([{ kind: 'NOT_ON_CHAIN', reason: expect.stringContaining('brings no such payment') }]);
  });

  it.each([1_499_999n, 1_500_001n])('an entry with another amount, %d units', async (amountMicros) => {
    const txHash = await bought(1_500_000n, { amountMicros });
    expect(await wrong()).toMatchObject([{ kind: 'AMOUNT_DIFFERS', txHash, bookedMicros: amountMicros, chainMicros: 1_500_000n }]);
  });

  it('a job with another amount than its contract moved', async () => {
    await bookJob(await completedJob(250_000n), 249_000n);
    expect(await wrong()).toMatchObject([{ kind: 'AMOUNT_DIFFERS', channel: 'agent-commerce', chainMicros: 250_000n }]);
  });

  it('an unbooked request, purchase and job', async () => {
    const request = await paidRequest();
    await bench.ledger.payments.deleteMany({});
    const purchase = await transfer(payee, 2_000_000n);
    await claim(purchase, bench.buyer.address);
    const job = await completedJob(250_000n);
    expect(await wrong()).toMatchObject([
      { kind: 'NOT_BOOKED', channel: 'x402', txHash: request, chainMicros: 1_000n, reason: 'it came with a request for x402_signal' },
      {
        kind: 'NOT_BOOKED',
        channel: 'purchase',
        txHash: purchase,
        chainMicros: 2_000_000n,
        reason: 'it was shown for svc_analysis_report',
      },
      { kind: 'NOT_BOOKED', channel: 'agent-commerce', txHash: job.txHash, chainMicros: 250_000n },
    ]);
    // What is so young may be about to be written down.
    const report = await run({ graceMs: 600_000 });
    expect(report).toMatchObject({
      differences: [],
      underWay: [{ channel: 'x402' }, { channel: 'purchase' }, { channel: 'agent-commerce' }],
    });
    expect(isBalanced(report)).toBe(false);
    expect(formatReconciliation(report)).toContain('Not equal yet: 3 on the way');
  });

  it('payments settled under earlier settings', async () => {
    await paidRequest();
    const { address } = privateKeyToAccount(generatePrivateKey());
    const moved = { provider: address, merchant: { ...parts.merchant, payee: address } };
    expect(await run(moved)).toMatchObject({ differences: [], receivedMicros: 1_000n });
    await bench.ledger.payments.updateMany({}, { $inc: { amountMicros: 1 } });
    expect(await wrong(moved)).toMatchObject([{ kind: 'AMOUNT_DIFFERS', bookedMicros: 1_001n }]);
  });
});

describe('the block range', () => {
  it('excludes payments before its first block and above the confirmation depth', async () => {
    await bought(5n);
    await chain.mine();
    const from = (await connected.client.getBlockNumber()) + 1n;
    await bought(9n);
    const report = await run({}, from);
    expect(report).toMatchObject({ differences: [], receivedMicros: 9n, channels: [{ bookedMicros: 9n }, {}, {}] });
    // Payments above the confirmation depth are not settled and must not be recorded.
    const cautious = { chain: await chain.connect({ confirmations: 3 }) };
    expect(await run(cautious)).toMatchObject({ receivedMicros: 5n, channels: [{ bookedMicros: 5n }, {}, {}], differences: [] });
  });

  it('may start at the first block of a time', async () => {
    const head = await connected.client.getBlock();
    const at = (seconds: bigint) => findFirstBlockSince(connected, new Date(Number(seconds) * 1_000));
    expect(await at(head.timestamp)).toBeLessThanOrEqual(head.number);
    expect((await connected.client.getBlock({ blockNumber: await at(head.timestamp) })).timestamp).toBe(head.timestamp);
    expect(await at(head.timestamp + 1_000n)).toBe(head.number);
    expect(await at(0n)).toBe(0n);
  });
});

async function claim(txHash: Hash, wallet: Address): Promise<void> {
  await store.claim({
    ...{
      txHash,
      offering: 'svc_analysis_report',
      wallet: wallet.toLowerCase() as Hex,
      payee,
      asset: bench.merchant.asset,
      amountMicros: 1n,
    },
    ...{ chain: 'eip155:84532', settledAt: new Date(), ref: null, address: '192.0.2.1', signatureHash: null },
  });
}

it('ends otherwise than on a difference where nothing could be compared', async () => {
  const { code, output } = await spawnNode(['bin/reconcile.mjs'], { DATA_DIR: '/var/empty/never-set-up' }).ended;
  expect([code, output]).toEqual([4, expect.stringContaining('Run npm start first')]);
});
