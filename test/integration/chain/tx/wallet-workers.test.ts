import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SendRequest } from '../../../../src/chain/wallet.ts';
import { type RpcProxy, rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import type { SendKeysOrder } from './fixtures/send-keys.ts';
import { freshAddress, startWalletBench, type WalletBench } from './wallet-bench.ts';

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());

const request = (key: string): SendRequest => ({ key, to: freshAddress(), data: '0x' });

function startWorker(privateKey: Hex, requests: SendRequest[], rpcUrl = bench.chain.rpcUrl): ChildProcess {
  const child = fork(join(import.meta.dirname, 'fixtures/send-keys.ts'), { execArgv: [] });
  const chain = { rpcUrl, chainId: bench.chain.chainId, confirmations: 1, pollingIntervalMs: 20, addresses: bench.chain.addresses };
  child.send({ chain, mongoUri: bench.database.uri, privateKey, requests } satisfies SendKeysOrder);
  return child;
}

async function hashesOf(worker: ChildProcess): Promise<Hex[]> {
  const [hashes] = await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => ['the worker died'])]);
  return hashes as Hex[];
}

/** A worker that is killed when its first transaction passes by. */
async function killedWorker(key: Hex, requests: SendRequest[], when: 'onRequest' | 'onResponse'): Promise<void> {
  const proxy: RpcProxy = await rpcProxy(bench.chain.rpcUrl);
  const worker = startWorker(key, requests, proxy.url);
  proxy.hooks[when] = ({ method }) => {
    if (method !== 'eth_sendRawTransaction') return undefined;
    worker.kill('SIGKILL');
    return 'drop';
  };
  const [, signal] = await once(worker, 'exit');
  expect(signal).toBe('SIGKILL');
  await proxy.close();
}

describe('two processes with one wallet', () => {
  it('confirm all keys with one transaction each, without nonce collision or gap', async () => {
    const { account, key } = await bench.newAccount();
    const requests = Array.from({ length: 30 }, (_, index) => request(`pair:${index}`));
    const workers = [startWorker(key, requests.slice(0, 20)), startWorker(key, requests.slice(10).toReversed())];
    const [first, second] = await Promise.all(workers.map(hashesOf));
    expect(first.slice(10)).toEqual(second.toReversed().slice(0, 10));
    const mined = await bench.mined(account.address);
    expect(new Set([...first, ...second])).toEqual(new Set(mined));
    expect(mined).toHaveLength(30);
    const nonces = await bench.rows.distinct('nonce', { address: account.address });
    expect(nonces.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, nonce) => nonce));
  });
});

describe('a process killed', () => {
  it('between broadcast and write: the next process finds the transaction', async () => {
    const { account, key } = await bench.newAccount();
    const requests = [request('killed:after')];
    await killedWorker(key, requests, 'onResponse');
    const [hash] = await hashesOf(startWorker(key, requests));
    expect(await bench.mined(account.address)).toEqual([hash]);
  });

  it('between write and broadcast: the next process sends the stored transaction', async () => {
    const { account, key } = await bench.newAccount();
    const requests = [request('killed:before')];
    await killedWorker(key, requests, 'onRequest');
    expect(await bench.mined(account.address)).toEqual([]);
    const written = await bench.journal.find('84532:attester:killed:before');
    const [hash] = await hashesOf(startWorker(key, requests));
    expect(hash).toBe(written?.attempts[0].hash);
    expect(await bench.mined(account.address)).toEqual([hash]);
  });

  it('before broadcast: a process with a higher nonce sends its transaction, too', async () => {
    const { account, key } = await bench.newAccount();
    await killedWorker(key, [request('killed:lower')], 'onRequest');
    const later = await (await bench.wallet(account)).send(request('behind'));
    expect(later.nonce).toBe(1);
    const lower = await bench.journal.find('84532:attester:killed:lower');
    expect(await bench.mined(account.address)).toEqual([lower?.attempts[0].hash, later.hash]);
  });
});
