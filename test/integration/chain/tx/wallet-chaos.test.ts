import { setTimeout as delay } from 'node:timers/promises';
import { type Hex, type LocalAccount, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SendRequest, Wallet } from '../../../../src/chain/wallet.ts';
import { isOracleError } from '../../../../src/errors.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { freshAddress, startWalletBench, type WalletBench } from './wallet-bench.ts';

const KEYS = 25;
const WORKERS = 3;
const SEEDS = [1, 2, 3];
/** The keys are sent over this time. */
const SPREAD_MS = 2_000;
const FAILING_REQUESTS = 0.03;
const DEADLINE_MS = 40_000;

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());

/** Mulberry32. The timing of a run is its own, so a seed repeats the kind of trouble rather than every step. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What somebody else does who has the same key. */
async function sendElsewhere(account: LocalAccount): Promise<void> {
  const nonce = Number(await bench.chain.rpc<Hex>('eth_getTransactionCount', account.address, 'latest'));
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
  const raw = await account.signTransaction({ type: 'eip1559', chainId: 84532, nonce, to: freshAddress(), gas: 21_000n, ...fees });
  await bench.chain.rpc('eth_sendRawTransaction', raw);
}

/** Blocks come at random, are reorganised, lose their transactions; others use the key. */
async function misbehave(account: LocalAccount, random: () => number, done: () => boolean): Promise<void> {
  while (!done()) {
    await delay(10 + 30 * random());
    // To a depth below that of a confirmation.
    if (random() < 0.1) await bench.chain.rpc('anvil_reorg', 1 + Math.floor(3 * random()), []).catch(() => {});
    if (random() < 0.1) await bench.chain.rpc('anvil_dropAllTransactions');
    if (random() < 0.1) await sendElsewhere(account).catch(() => {});
    if (random() < 0.1) await bench.chain.rpc('anvil_setNextBlockBaseFeePerGas', numberToHex(BigInt(Math.floor(5e9 * random())) + 7n));
    await bench.chain.mine();
  }
}

/** Sends until it is through, as a job that is repeated does. */
async function insist(wallet: Wallet, request: SendRequest): Promise<Hex> {
  for (const deadline = Date.now() + DEADLINE_MS; ; ) {
    try {
      return (await wallet.send(request)).hash;
    } catch (error) {
      if (!isOracleError(error) || !error.retryable || Date.now() > deadline) throw error;
    }
  }
}

it.each(SEEDS)('has one effect per key on an unreliable chain and endpoint (seed %i)', async (seed) => {
  const random = randomFrom(seed);
  const { account } = await bench.newAccount();
  // Its money lies deeper than any reorganisation reaches.
  await bench.chain.mine(4);
  const proxy = await rpcProxy(bench.chain.rpcUrl);
  const options = { stuckAfterMs: 300, timeoutMs: 5_000, feeCapWei: 10n ** 13n, chain: { confirmations: 4, rpcUrl: proxy.url } };
  const wallets = await Promise.all(Array.from({ length: WORKERS }, () => bench.wallet(account, options)));
  const requests = Array.from(
    { length: KEYS },
    (_, index) => ({ key: `chaos:${seed}:${index}`, to: freshAddress(), data: '0x', value: 1n }) as const,
  );
  const drop = () => (random() < FAILING_REQUESTS ? ('drop' as const) : undefined);
  proxy.hooks = { onRequest: drop, onResponse: drop };
  await bench.chain.automine(false);
  let done = false;
  const chaos = misbehave(account, random, () => done);
  const sendAll = (wallet: Wallet) =>
    Promise.all(
      requests.map(async (request) => {
        await delay(SPREAD_MS * random());
        return insist(wallet, request);
      }),
    );
  const [first, ...others] = await Promise.all(wallets.map(sendAll));
  done = true;
  await chaos;
  await bench.chain.automine(true);
  for (const hashes of others) expect(hashes).toEqual(first);
  expect(await Promise.all(requests.map(({ to }) => bench.balance(to)))).toEqual(requests.map(() => 1n));
  await proxy.close();
});
