import type { Address } from 'viem';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { composeWalletFunds } from '../../../src/app/app.ts';
import { MAX_DAYS_LEFT, readWalletFunds } from '../../../src/chain/contracts.ts';
import { DAY_MS } from '../../../src/forecast/day.ts';
import { rpcProxy } from '../../support/chain/rpc-proxy.ts';
import { freshAddress, startWalletBench, type WalletBench } from './tx/wallet-bench.ts';

const NOW = new Date('2026-08-20T12:00:00Z');

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());

/** A wallet whose transactions were mined these days before now, and what each of them cost. */
async function spender(...daysBefore: number[]) {
  const { account } = await bench.newAccount();
  const wallet = await bench.wallet(account);
  const costs: bigint[] = [];
  for (const days of daysBefore) {
    const { key, gasUsed, effectiveGasPrice } = await wallet.send({ key: `${account.address}:${days}`, to: freshAddress(), data: '0x' });
    const at = new Date(NOW.getTime() - days * DAY_MS);
    await bench.rows.updateOne({ _id: `${bench.chain.chainId}:attester:${key}` }, { $set: { 'receipt.at': at } });
    costs.push(BigInt(gasUsed) * effectiveGasPrice);
  }
  return { address: account.address, costs };
}

async function fundsOf(address: Address) {
  const chain = await bench.chain.connect();
  const [funds] = await readWalletFunds({ db: bench.database.db, chain }, [{ role: 'attester', address }], NOW);
  return funds;
}

const setBalance = (address: Address, wei: bigint) => bench.chain.rpc('anvil_setBalance', address, `0x${wei.toString(16)}`);

it('estimates the days left from the average daily cost of the last seven days', async () => {
  const { address, costs } = await spender(8, 6, 3, 0);
  const week = costs.slice(1).reduce((sum, cost) => sum + cost, 0n);
  await setBalance(address, week * 3n + week / 2n);
  expect(await fundsOf(address)).toEqual({ role: 'attester', address, balanceWei: String(week * 3n + week / 2n), daysLeft: 24 });
  await setBalance(address, 0n);
  expect(await fundsOf(address)).toMatchObject({ balanceWei: '0', daysLeft: 0 });
  await setBalance(address, 10n ** 40n);
  expect(await fundsOf(address)).toMatchObject({ daysLeft: MAX_DAYS_LEFT });
});

it.each([
  ['that has sent nothing', []],
  ['whose first transaction is not a week old', [6, 1]],
  ['that has sent nothing for a week', [8]],
])('nothing is estimated for a wallet %s', async (_, daysBefore) => {
  const { address } = await spender(...daysBefore);
  expect(await fundsOf(address)).toMatchObject({ daysLeft: null });
});

it('reads balances once a minute for all callers, and retries a failure immediately', async () => {
  const [attester, reporter, provider, facilitator] = await Promise.all(
    Array.from({ length: 4 }, async () => bench.wallet((await bench.newAccount()).account)),
  );
  // One that nobody repeats by himself.
  const error = { code: -32_601, message: 'the method is not available' };
  const proxy = await rpcProxy(bench.chain.rpcUrl, { onRequest: ({ method }) => (method === 'eth_getBalance' ? { error } : undefined) });
  onTestFinished(() => proxy.close());
  let clock = NOW;
  const chain = await bench.chain.connect({ rpcUrl: proxy.url });
  const wallets = { attester, reporter, provider, facilitator };
  const funds = composeWalletFunds({ db: bench.database.db, chain, wallets, now: () => clock });
  const asked = () => proxy.counts.get('eth_getBalance');
  await expect(funds()).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
  await expect.poll(asked, { interval: 5 }).toBe(3);

  proxy.hooks = {};
  const answers = await Promise.all([funds(), funds(), funds()]);
  expect(answers[2]!.map(({ role, address }) => [role, address])).toEqual([
    ['attester', attester.address],
    ['reporter', reporter.address],
    ['provider', provider.address],
  ]);
  expect(asked()).toBe(6);
  clock = new Date(NOW.getTime() + 60_000);
  await funds();
  expect(asked()).toBe(9);
});
