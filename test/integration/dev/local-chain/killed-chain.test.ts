import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Hex, type LocalAccount, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callJsonRpc, deployContracts, fundGas } from '../../../../src/dev/local-chain/contracts.ts';
import { type LocalChain, startLocalChain } from '../../../../src/dev/local-chain/local-chain.ts';
import { getProcessIdentity } from '../../../../src/platform/data-dir.ts';
import { readJsonFileOrNull } from '../../../../src/platform/secrets.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

const GENESIS = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

let stateDir: string;
let started: LocalChain[];
let sender: LocalAccount;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'killed-chain-'));
  started = [];
  sender = privateKeyToAccount(generatePrivateKey());
});
afterEach(async () => {
  await Promise.all(started.map((chain) => chain.stop()));
  await removeFolder(stateDir);
});

async function start(folder = stateDir): Promise<LocalChain> {
  const chain = await startLocalChain({ stateDir: folder, genesisMs: GENESIS, saveEveryMs: 200 });
  started.push(chain);
  return chain;
}

/** Pids that the host's lock on the folder and the node's pid file name, if they run. */
async function listRunning(folder: string): Promise<number[]> {
  const claims = await readdir(join(folder, 'lock'));
  const { pid } = ((await readJsonFileOrNull(join(folder, 'anvil.pid'))) ?? {}) as { pid?: number };
  const pids = [...claims.map((name) => Number.parseInt(name, 10)), pid ?? Number.NaN];
  return pids.filter((named) => !Number.isNaN(named) && getProcessIdentity(named) !== undefined);
}

/** Host and node at once, without a signal that they could handle. */
async function killAll(folder = stateDir): Promise<void> {
  for (const pid of await listRunning(folder)) process.kill(pid, 'SIGKILL');
}

interface Mined {
  transactionHash: Hex;
  blockHash: Hex;
}

/** Waits for the block, which a save may delay. */
async function send({ publicRpcUrl, chainId }: LocalChain, nonce: number): Promise<Mined> {
  const fees = { gas: 21_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 0n };
  const raw = await sender.signTransaction({ type: 'eip1559', chainId, nonce, to: sender.address, value: 1n, ...fees });
  const hash = await callJsonRpc<Hex>(publicRpcUrl, 'eth_sendRawTransaction', raw);
  for (;;) {
    const receipt = await callJsonRpc<Mined | null>(publicRpcUrl, 'eth_getTransactionReceipt', hash);
    if (receipt !== null) return receipt;
    await delay(2);
  }
}

const readHeight = async ({ rpcUrl }: LocalChain) => Number(await callJsonRpc<Hex>(rpcUrl, 'eth_blockNumber'));
const readNonce = async ({ rpcUrl }: LocalChain) =>
  Number(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', sender.address, 'latest'));

/** All blocks with hashes, times and transactions, and all receipts with logs. */
async function readChain(chain: LocalChain): Promise<{ transactions: { from: Hex }[] }[]> {
  const numbers = Array.from({ length: (await readHeight(chain)) + 1 }, (_, number) => numberToHex(number));
  const read = (method: string, ...more: unknown[]) =>
    Promise.all(numbers.map((number) => callJsonRpc<{ transactions: { from: Hex }[] }>(chain.rpcUrl, method, number, ...more)));
  const receipts = await read('eth_getBlockReceipts');
  return (await read('eth_getBlockByNumber', true)).map((block, number) => ({ ...block, receipts: receipts[number] }));
}

/** Sends until the chain is gone; resolves to what was mined. */
async function sendUntilKilled(chain: LocalChain): Promise<Mined[]> {
  const mined: Mined[] = [];
  try {
    for (let nonce = await readNonce(chain); ; nonce += 1) mined.push(await send(chain, nonce));
  } catch {
    return mined;
  }
}

const readSavedAt = (folder = stateDir) =>
  stat(join(folder, 'state.json')).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

async function untilSaved(): Promise<void> {
  for (const before = await readSavedAt(); (await readSavedAt()) === before; ) await delay(20);
}

describe('a chain whose processes are all killed', () => {
  it('goes on from the state that was saved last, with the same blocks, contracts and times', async () => {
    const first = await start();
    const addresses = await deployContracts(first.rpcUrl, sender);
    for (const minute of [10, 20, 1_440]) {
      await first.setNextBlockTime(GENESIS + minute * MINUTE);
      await send(first, await readNonce(first));
      await callJsonRpc(first.rpcUrl, 'evm_mine');
    }
    await untilSaved();
    const before = await readChain(first);
    await killAll();
    const second = await start();
    expect(second.restored).toBe(true);
    expect(await readChain(second)).toEqual(before);
    expect(await deployContracts(second.rpcUrl, sender)).toEqual(addresses);
    await send(second, await readNonce(second));
  });

  it('has whole blocks, the first ones that it had, at whatever moment it is killed: among transactions, in a save, while it stops', async () => {
    let chain = await start();
    await fundGas(chain.rpcUrl, [sender.address]);
    await send(chain, 0);
    await untilSaved();
    for (const ms of [450, 800, 700, 1_200]) {
      const sending = sendUntilKilled(chain);
      await delay(ms);
      const stopping = ms % 400 === 0 ? chain.stop() : undefined;
      if (stopping) await delay(ms / 50);
      await killAll();
      const mined = await sending;
      await stopping;
      chain = await start();
      const blocks = await readChain(chain);
      const sent = blocks.flatMap(({ transactions }) => transactions).filter(({ from }) => from === sender.address.toLowerCase());
      expect(sent).toHaveLength(await readNonce(chain));
      const hashes = new Set(blocks.map((block) => (block as unknown as { hash: Hex }).hash));
      const kept = mined.map(({ blockHash }) => hashes.has(blockHash));
      expect(kept).toEqual(kept.toSorted((a, b) => Number(b) - Number(a)));
      expect(kept.length).toBeGreaterThan(10);
    }
  });

  it('mines every transaction that comes while it is saved', async () => {
    const chain = await start();
    await fundGas(chain.rpcUrl, [sender.address]);
    const saves = new Set<number>();
    for (let nonce = 0; saves.size < 3; nonce += 1) {
      await send(chain, nonce);
      saves.add(await readSavedAt());
    }
    expect(await callJsonRpc(chain.rpcUrl, 'txpool_status')).toMatchObject({ pending: '0x0', queued: '0x0' });
  });
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

describe.skipIf(!canMount)('on a full disk (skipped where it cannot mount one)', () => {
  let disk: string;
  let mounted: boolean;
  beforeEach(async () => {
    disk = join(stateDir, 'disk');
    await mkdir(disk);
    mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]).status === 0;
  });
  afterEach(async () => {
    await Promise.all(started.map((chain) => chain.stop()));
    spawnSync('umount', [disk]);
  });

  it('keeps the earlier state, goes on, and saves everything once there is room', async ({ skip }) => {
    if (!mounted) skip();
    const first = await start(disk);
    await fundGas(first.rpcUrl, [sender.address]);
    await send(first, 0);
    while ((await readSavedAt(disk)) === 0) await delay(20);
    await writeFile(join(disk, 'filler'), Buffer.alloc(2 ** 20)).catch(() => {});
    const full = await readSavedAt(disk);
    for (const nonce of [1, 2, 3]) await send(first, nonce);
    await delay(1_500);
    expect(await readSavedAt(disk)).toBe(full);
    await rm(join(disk, 'filler'));
    const before = await readChain(first);
    await first.stop();
    expect(await readChain(await start(disk))).toEqual(before);
  });
});
