import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followMined } from '../../../../src/chain/wallet.ts';
import { BROKEN_ENDPOINTS, openBrokenEndpoint } from '../../../support/chain/broken-endpoint.ts';
import { freshAddress, startWalletBench, type WalletBench } from './wallet-bench.ts';

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
  await bench.chain.mine(5);
});
afterAll(() => bench.stop());

const RETRYABLE = ['CHAIN_UNREACHABLE', 'TRANSACTION_UNCONFIRMED'];

describe.each(Object.entries(BROKEN_ENDPOINTS))('an endpoint that %s', (name, breakage) => {
  it('makes a transaction once, now or when it is sent again elsewhere', async () => {
    const { account } = await bench.newAccount();
    const [to, node] = [freshAddress(), await openBrokenEndpoint(bench.chain.rpcUrl, breakage)];
    const request = { key: `once ${name}`, to, data: '0x', value: 1n } as const;
    const broken = await bench.wallet(account, { chain: { rpcUrl: node.url }, timeoutMs: 400, stuckAfterMs: 100 }).catch(() => null);
    const first = await broken?.send(request).catch(({ code }: { code: string }) => {
      expect(RETRYABLE).toContain(code);
      return null;
    });
    const second = await (await bench.wallet(account)).send(request);
    if (first) expect(first).toMatchObject({ hash: second.hash, blockNumber: second.blockNumber });
    expect(await bench.balance(to)).toBe(1n);
    await node.close();
  });

  it('takes no transaction for lost', async () => {
    const { account } = await bench.newAccount();
    const sent = await (await bench.wallet(account)).send({ key: `kept ${name}`, to: freshAddress(), data: '0x' });
    const node = await openBrokenEndpoint(bench.chain.rpcUrl, breakage);
    const look = async (url?: string) =>
      followMined({
        ...{ chain: await bench.chain.connect(url === undefined ? {} : { rpcUrl: url }), journal: bench.journal, now: () => new Date() },
        onLost: async () => undefined,
      });
    await look(node.url).catch(({ code }) => expect(RETRYABLE).toContain(code));
    // What one endpoint claimed is put right by the next.
    await look();
    const wallet = await bench.wallet(account);
    expect((await wallet.send({ key: `kept ${name}`, to: freshAddress(), data: '0x' })).hash).toBe(sent.hash);
    expect(await bench.mined(account.address)).toEqual([sent.hash]);
    await node.close();
  });
});
