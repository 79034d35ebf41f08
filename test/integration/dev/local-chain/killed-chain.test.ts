import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Hex, type LocalAccount, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deployContracts } from '../../../../src/dev/local-chain/contracts/deploy.ts';
import { fundGas } from '../../../../src/dev/local-chain/contracts/fund-wallets.ts';
import { callJsonRpc } from '../../../../src/dev/local-chain/json-rpc.ts';
import { type LocalChain, startLocalChain } from '../../../../src/dev/local-chain/local-chain.ts';
import { readJsonFileOrNull } from '../../../../src/platform/data-dir/json-file.ts';
import { getProcessIdentity } from '../../../../src/platform/data-dir/process-identity.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

const GENESIS = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const LOG = 'writes.jsonl';

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
  const chain = await startLocalChain({ stateDir: folder, genesisMs: GENESIS });
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

async function killDuringStart(ms: number): Promise<void> {
  let isOver = false;
  const over = startLocalChain({ stateDir, genesisMs: GENESIS }).then(
    (chain) => void started.push(chain),
    () => {},
  );
  void over.then(() => (isOver = true));
  while ((await listRunning(stateDir)).length === 0) await delay(2);
  await delay(ms);
  // Until the host has the lock, the node of the one before is all that runs.
  for (; !isOver; await delay(5)) await killAll();
  await over;
  await killAll();
}

interface Mined {
  transactionHash: Hex;
  blockHash: Hex;
  blockNumber: Hex;
}

async function send({ publicRpcUrl, chainId }: LocalChain, nonce: number): Promise<Mined> {
  const fees = { gas: 21_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 0n };
  const raw = await sender.signTransaction({ type: 'eip1559', chainId, nonce, to: sender.address, value: 1n, ...fees });
  const hash = await callJsonRpc<Hex>(publicRpcUrl, 'eth_sendRawTransaction', raw);
  return (await readReceipt(publicRpcUrl, hash))!;
}

const readReceipt = (rpcUrl: string, hash: Hex) => callJsonRpc<Mined | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
const readHeight = async ({ rpcUrl }: LocalChain) => Number(await callJsonRpc<Hex>(rpcUrl, 'eth_blockNumber'));
const readNonce = async ({ rpcUrl }: LocalChain) =>
  Number(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', sender.address, 'latest'));

/** All blocks with hashes and times, and all receipts with logs. */
async function readChain(chain: LocalChain): Promise<unknown[]> {
  const numbers = Array.from({ length: (await readHeight(chain)) + 1 }, (_, number) => numberToHex(number));
  const read = (method: string, ...more: unknown[]) =>
    Promise.all(numbers.map((number) => callJsonRpc(chain.rpcUrl, method, number, ...more)));
  return [...(await read('eth_getBlockByNumber', true)), ...(await read('eth_getBlockReceipts'))];
}

/** Sends until the chain is gone; resolves to what was acknowledged. */
async function sendUntilKilled(chain: LocalChain): Promise<Mined[]> {
  const acknowledged: Mined[] = [];
  try {
    for (let nonce = await readNonce(chain); ; nonce += 1) acknowledged.push(await send(chain, nonce));
  } catch {
    return acknowledged;
  }
}

describe('a chain whose processes are all killed', () => {
  it('comes back with the same blocks: contracts, dated, undated and impersonated transactions, empty blocks', async () => {
    const first = await start();
    const addresses = await deployContracts(first.rpcUrl, sender);
    await callJsonRpc(first.rpcUrl, 'anvil_impersonateAccount', addresses.eas);
    await fundGas(first.rpcUrl, [addresses.eas]);
    const sent = { from: addresses.eas, to: sender.address, value: '0x1' };
    expect(await readReceipt(first.rpcUrl, await callJsonRpc<Hex>(first.rpcUrl, 'eth_sendTransaction', sent))).toMatchObject({
      status: '0x1',
    });
    for (const minute of [10, 20, 1_440]) {
      await first.setNextBlockTime(GENESIS + minute * MINUTE);
      await send(first, await readNonce(first));
      await send(first, await readNonce(first));
      await callJsonRpc(first.rpcUrl, 'evm_mine');
    }
    await first.followWallClock();
    await send(first, await readNonce(first));
    const before = await readChain(first);
    await killAll();
    const second = await start();
    expect(second.restored).toBe(true);
    expect(await readChain(second)).toEqual(before);
    expect(await deployContracts(second.rpcUrl, sender)).toEqual(addresses);
  });

  it('loses no acknowledged transaction, at whatever moment it is killed: among writes, in a save, while it repeats', async () => {
    const first = await start();
    await fundGas(first.rpcUrl, [sender.address]);
    const acknowledged: Mined[] = [];
    let chain = first;
    for (const [round, ms] of [40, 150, 90, 300].entries()) {
      const sending = sendUntilKilled(chain);
      await delay(ms);
      // The last save of a stop, of which a part is done.
      const stopping = round % 2 === 1 ? chain.stop() : undefined;
      if (stopping) await delay(ms / 20);
      await killAll();
      acknowledged.push(...(await sending));
      await stopping;
      await killDuringStart(ms / 2);
      chain = await start();
      expect(await Promise.all(acknowledged.map(({ transactionHash }) => readReceipt(chain.rpcUrl, transactionHash)))).toEqual(
        acknowledged,
      );
    }
    expect(acknowledged.length).toBeGreaterThan(10);
  });

  it('has the transactions whose nonces arrived in the wrong order', async () => {
    const first = await start();
    await fundGas(first.rpcUrl, [sender.address]);
    expect(await send(first, 1)).toBeNull();
    await send(first, 0);
    await send(first, 2);
    const before = await readChain(first);
    await killAll();
    expect(await readChain(await start())).toEqual(before);
  });

  it.each(['stopped', 'killed'] as const)('keeps a transaction with a missing nonce over saves: %s after them', async (end) => {
    const first = await start();
    await fundGas(first.rpcUrl, [sender.address]);
    expect(await send(first, 1)).toBeNull();
    await first.stop();
    const second = await start();
    await fundGas(second.rpcUrl, [sender.address]);
    await second.stop();
    const third = await start();
    if (end === 'killed') await killAll();
    else await third.stop();
    const last = await start();
    await send(last, 0);
    expect(await readNonce(last)).toBe(2);
  });
});

describe('its log', () => {
  it('ends at the last complete line', async () => {
    const first = await start();
    await fundGas(first.rpcUrl, [sender.address]);
    await send(first, 0);
    await killAll();
    await appendFile(join(stateDir, LOG), '{"method":"eth_sendRawTransaction","params":["0x02');
    const second = await start();
    expect(await readHeight(second)).toBe(1);
    await send(second, 1);
    await killAll();
    expect(await readHeight(await start())).toBe(2);
  });

  it('may still have what a saved state contains, after a kill between both', async () => {
    const first = await start();
    await fundGas(first.rpcUrl, [sender.address]);
    for (const nonce of [0, 1]) await send(first, nonce);
    const log = await readFile(join(stateDir, LOG));
    const before = await readChain(first);
    await first.stop();
    await writeFile(join(stateDir, LOG), log);
    expect(await readChain(await start())).toEqual(before);
  });

  it('of another chain is an error that says what to do', async () => {
    const first = await start();
    await fundGas(first.rpcUrl, [sender.address]);
    for (const nonce of [0, 1]) await send(first, nonce);
    await killAll();
    const lines = (await readFile(join(stateDir, LOG), 'utf8')).split('\n');
    await writeFile(join(stateDir, LOG), lines.slice(2).join('\n'));
    await expect(start()).rejects.toMatchObject({ code: 'DATA_DIR_DAMAGED' });
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

  it('rejects writes, and has all earlier ones when there is room again', async ({ skip }) => {
    if (!mounted) skip();
    const first = await start(disk);
    await fundGas(first.rpcUrl, [sender.address]);
    await send(first, 0);
    await writeFile(join(disk, 'filler'), Buffer.alloc(2 ** 20)).catch(() => {});
    await expect(Promise.all(Array.from({ length: 40 }, (_, index) => send(first, index + 1)))).rejects.toMatchObject({
      message: expect.stringContaining('could not save the request'),
    });
    const before = await readChain(first);
    await killAll(disk);
    await rm(join(disk, 'filler'));
    const second = await start(disk);
    expect(await readChain(second)).toEqual(before);
    await send(second, await readNonce(second));
  });
});
