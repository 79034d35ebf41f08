import { type Hex, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Interference, type RpcHooks, rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { freshAddress, startWalletBench, type WalletBench } from './wallet-bench.ts';

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());

const GWEI = 10n ** 9n;
/** Of four blocks, one of them empty: the middle one of the tips that were paid. */
const FEES = {
  oldestBlock: '0x1',
  baseFeePerGas: ['0x1', '0x1', '0x1', '0x1', '0x1'],
  gasUsedRatio: [0.5, 0, 0.25, 1],
  reward: [3n * GWEI, 0n, 2n * GWEI, 5n * GWEI].map((tip) => [numberToHex(tip)]),
};

async function sendBehind(hooks: RpcHooks) {
  const proxy = await rpcProxy(bench.chain.rpcUrl, hooks);
  onTestFinished(() => proxy.close());
  const { account } = await bench.newAccount();
  const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url } });
  await wallet.send({ key: `plain:${wallet.address}`, to: freshAddress(), data: '0x' });
  const [hash] = await bench.mined(wallet.address);
  const { maxPriorityFeePerGas } = await bench.chain.rpc<{ maxPriorityFeePerGas: Hex }>('eth_getTransactionByHash', hash);
  return BigInt(maxPriorityFeePerGas);
}

const answering = (answers: Record<string, Interference>): RpcHooks => ({ onRequest: ({ method }) => answers[method] });
const noMethod = { error: { code: -32_601, message: 'the method eth_maxPriorityFeePerGas does not exist/is not available' } };

it.each<[string, Interference]>([
  ['lacks eth_maxPriorityFeePerGas', noMethod],
  ['calls it an invalid request', { error: { code: -32_600, message: 'Unsupported method: eth_maxPriorityFeePerGas' } }],
  ['answers null', { result: null }],
  ['answers no number', { result: '' }],
])('offers the tip that the newest blocks paid when an endpoint %s', async (_what, answer) => {
  expect(await sendBehind(answering({ eth_maxPriorityFeePerGas: answer, eth_feeHistory: { result: FEES } }))).toBe(3n * GWEI);
});

it('offers the least tip when all of these blocks are empty', async () => {
  const empty = { ...FEES, gasUsedRatio: [0, 0, 0, 0], reward: FEES.reward.map(() => ['0x0']) };
  expect(await sendBehind(answering({ eth_maxPriorityFeePerGas: noMethod, eth_feeHistory: { result: empty } }))).toBe(10n ** 6n);
});

it("offers a node's own suggestion where there is one", async () => {
  const suggested = { result: numberToHex(7n * GWEI) };
  expect(await sendBehind(answering({ eth_maxPriorityFeePerGas: suggested, eth_feeHistory: 'drop' }))).toBe(7n * GWEI);
});

it.each<[string, Interference]>([
  ['is not there either', noMethod],
  ['answers null', { result: null }],
  ['has no rewards', { result: { ...FEES, reward: undefined } }],
])('names the method when the history of fees %s', async (_what, answer) => {
  await expect(sendBehind(answering({ eth_maxPriorityFeePerGas: noMethod, eth_feeHistory: answer }))).rejects.toMatchObject({
    code: 'CHAIN_UNREACHABLE',
    message: 'Reading the fees failed: the chain gives no usable answer to eth_feeHistory',
  });
});
