import { type Hex, numberToHex, zeroHash } from 'viem';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createGasCostReader } from '../../../../src/chain/contracts.ts';
import { createAttester } from '../../../../src/chain/eas/eas.ts';
import { sumCostWei } from '../../../../src/record/figures.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { REACHED } from '../../../support/clock/trusted-time.ts';
import { freshAddress, startWalletBench, type WalletBench } from './wallet-bench.ts';

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());

/** What a receipt of Base has beside that of any chain, as its nodes spell it. */
const ROLLUP_FIELDS = {
  l1BaseFeeScalar: '0x8dd',
  l1BlobBaseFee: '0x1',
  l1BlobBaseFeeScalar: '0x101c12',
  l1Fee: '0x38d7ea4c6',
  l1GasPrice: '0x1dcd6500',
  l1GasUsed: '0x6a4',
};
const L1_FEE = 0x38d7ea4c6n;

/** A wallet of its own behind a node whose receipts have these fields too. */
async function behind(fields: Record<string, unknown>) {
  const proxy = await rpcProxy(bench.chain.rpcUrl, {
    onResponse: ({ method }, result) =>
      method === 'eth_getTransactionReceipt' && result !== null ? { result: { ...(result as object), ...fields } } : undefined,
  });
  onTestFinished(() => proxy.close());
  const { account } = await bench.newAccount();
  const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url } });
  return { wallet, chain: await bench.chain.connect({ rpcUrl: proxy.url }) };
}

const costsOf = (address: Hex) =>
  createGasCostReader(bench.database.db, { chainId: bench.chain.chainId, addresses: [address] })(new Date(0), new Date(8.64e15));

it("includes a rollup's data fee in the cost of a transaction", async () => {
  const { wallet } = await behind(ROLLUP_FIELDS);
  const sent = await wallet.send({ key: `plain:${wallet.address}`, to: freshAddress(), data: '0x' });
  const [before, after] = await Promise.all(
    [sent.blockNumber - 1, sent.blockNumber].map((block) =>
      bench.chain.rpc<Hex>('eth_getBalance', wallet.address, numberToHex(block)).then(BigInt),
    ),
  );
  const gas = before - after;
  expect(sent).toMatchObject({ gasUsed: 21_000, l1Fee: L1_FEE });
  expect(await costsOf(wallet.address)).toEqual([{ purpose: 'plain', transactions: 1, gasUsed: 21_000, costWei: gas + L1_FEE }]);
});

it('counts the data fee once for all attestations of a transaction', async () => {
  const { wallet, chain } = await behind(ROLLUP_FIELDS);
  const attested = await createAttester(chain, wallet).attestPredictions(
    'attest:2026-08-20',
    [1, 2].map((horizonDays) => ({
      ...{ sequence: 1, day: 20_685, horizonDays, windowOpensAt: new Date(0), resolvesAt: new Date(0), refUid: zeroHash },
      ...{ commitment: zeroHash, inputsDigest: zeroHash, metadata: zeroHash },
    })),
    REACHED,
  );
  expect(attested.map(({ l1FeeWei }) => l1FeeWei)).toEqual([String(L1_FEE), String(L1_FEE)]);
  const { gasUsed, effectiveGasPriceWei } = attested[0];
  expect(sumCostWei(attested)).toBe(BigInt(gasUsed) * BigInt(effectiveGasPriceWei) + L1_FEE);
});

it.each([
  ['has no such fee', {}],
  ['tells null for it', { l1Fee: null }],
  ['has no digits in it', { l1Fee: '0x' }],
  ['tells what is no number of a chain', { l1Fee: 1.5 }],
])('goes by gas alone where a receipt %s', async (_, fields) => {
  const { wallet } = await behind(fields);
  const { gasUsed, effectiveGasPrice, l1Fee } = await wallet.send({ key: `plain:${wallet.address}`, to: freshAddress(), data: '0x' });
  expect(l1Fee).toBe(0n);
  const [{ costWei }] = await costsOf(wallet.address);
  expect(costWei).toBe(BigInt(gasUsed) * effectiveGasPrice);
  const row = await bench.journal.find(`${bench.chain.chainId}:attester:plain:${wallet.address}`);
  expect(row?.receipt).not.toHaveProperty('l1FeeWei');
});
