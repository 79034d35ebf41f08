import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hex, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callJsonRpc, deployContracts } from '../../../../src/dev/local-chain/contracts.ts';
import { type LocalChain, type LocalChainOptions, startLocalChain } from '../../../../src/dev/local-chain/local-chain.ts';
import { getProcessIdentity } from '../../../../src/platform/data-dir.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

const GENESIS = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

let stateDir: string;
let started: LocalChain[];
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'local-chain-'));
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((chain) => chain.stop()));
  await removeFolder(stateDir);
});

async function start(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const chain = await startLocalChain({ stateDir, ...options });
  started.push(chain);
  return chain;
}

interface Block {
  hash: Hex;
  timestamp: Hex;
  transactions: Hex[];
}

const block = ({ rpcUrl }: LocalChain, number: number | 'latest') =>
  callJsonRpc<Block>(rpcUrl, 'eth_getBlockByNumber', number === 'latest' ? number : numberToHex(number), false);
const timeOf = async (chain: LocalChain, number: number | 'latest' = 'latest') => Number((await block(chain, number)).timestamp) * 1000;
const height = async ({ rpcUrl }: LocalChain) => Number(await callJsonRpc<Hex>(rpcUrl, 'eth_blockNumber'));
const mine = ({ rpcUrl }: LocalChain) => callJsonRpc(rpcUrl, 'evm_mine');
const alive = (pid: number) => getProcessIdentity(pid) !== undefined;
const anvilPid = () => JSON.parse(readFileSync(join(stateDir, 'anvil.pid'), 'utf8')).pid as number;

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 5_000; !condition(); ) {
    if (Date.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

function expectNow(ms: number): void {
  expect(Math.abs(Date.now() - ms)).toBeLessThan(3_000);
}

describe('a local chain', () => {
  it('has the chain id of Base and no well-known accounts', async () => {
    const { rpcUrl, chainId } = await start();
    expect([chainId, Number(await callJsonRpc<Hex>(rpcUrl, 'eth_chainId'))]).toEqual([84532, 84532]);
    expect(await callJsonRpc(rpcUrl, 'eth_accounts')).toEqual([]);
    expect(await callJsonRpc(rpcUrl, 'eth_getBalance', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', 'latest')).toBe('0x0');
  });

  it('lets no page of a browser in', async () => {
    const { rpcUrl } = await start();
    const headers = {
      origin: 'http://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const preflight = await fetch(rpcUrl, { method: 'OPTIONS', headers });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('has all contracts where they are on Base, but for the stablecoin', async () => {
    const { rpcUrl } = await start();
    const deployer = privateKeyToAccount(generatePrivateKey());
    const addresses = await deployContracts(rpcUrl, deployer);
    expect(addresses.eas).toBe('0x4200000000000000000000000000000000000021');
    expect(addresses.schemaRegistry).toBe('0x4200000000000000000000000000000000000020');
    expect(addresses.stablecoin).not.toBe('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');
    expect(await deployContracts(rpcUrl, deployer)).toEqual(addresses);
    // getSchemaRegistry()
    const call = { to: addresses.eas, data: '0xf10b5cc8' };
    expect(await callJsonRpc<Hex>(rpcUrl, 'eth_call', call, 'latest')).toBe(`0x${addresses.schemaRegistry.slice(2).padStart(64, '0')}`);
  });
});

describe('its clock', () => {
  it('dates blocks at the given time and continues from there', async () => {
    const chain = await start({ genesisMs: GENESIS });
    expect(await timeOf(chain, 0)).toBe(GENESIS);
    for (const minute of [1, 2, 1_000]) {
      await chain.setNextBlockTime(GENESIS + minute * MINUTE);
      await mine(chain);
      expect(await timeOf(chain)).toBe(GENESIS + minute * MINUTE);
    }
    await mine(chain);
    expect((await timeOf(chain)) - (GENESIS + 1_000 * MINUTE)).toBeLessThan(3_000);
  });

  it('rejects to go back', async () => {
    const chain = await start({ genesisMs: GENESIS });
    await expect(chain.setNextBlockTime(GENESIS - MINUTE)).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'ms' });
  });

  it('comes back to the wall clock, in the last block too', async () => {
    const chain = await start({ genesisMs: GENESIS });
    await chain.setNextBlockTime(GENESIS + MINUTE);
    await chain.followWallClock();
    expectNow(await timeOf(chain));
    await mine(chain);
    expectNow(await timeOf(chain));
  });

  it('is at the wall clock after a restart, unless a replay goes on', async () => {
    const first = await start({ genesisMs: GENESIS });
    await first.setNextBlockTime(GENESIS + MINUTE);
    await mine(first);
    await first.stop();
    const second = await start({ genesisMs: GENESIS });
    await second.setNextBlockTime(GENESIS + 2 * MINUTE);
    await mine(second);
    expect(await timeOf(second)).toBe(GENESIS + 2 * MINUTE);
    await second.stop();
    const third = await start();
    await mine(third);
    expectNow(await timeOf(third));
  });
});

describe('its state', () => {
  it('survives a restart: blocks, their times, transactions, receipts, logs, contracts', async () => {
    const first = await start({ genesisMs: GENESIS });
    expect(first.restored).toBe(false);
    const deployer = privateKeyToAccount(generatePrivateKey());
    const addresses = await deployContracts(first.rpcUrl, deployer);
    await first.setNextBlockTime(GENESIS + MINUTE);
    await mine(first);
    const everything = async (chain: LocalChain) => {
      const blocks = await Promise.all(Array.from({ length: (await height(chain)) + 1 }, (_, number) => block(chain, number)));
      const hashes = blocks.flatMap(({ transactions }) => transactions);
      const read = (method: string) => Promise.all(hashes.map((hash) => callJsonRpc(chain.rpcUrl, method, hash)));
      const logs = await callJsonRpc<unknown[]>(chain.rpcUrl, 'eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' });
      return { blocks, logs, transactions: await read('eth_getTransactionByHash'), receipts: await read('eth_getTransactionReceipt') };
    };
    const before = await everything(first);
    expect(before.receipts).toHaveLength(9);
    expect(before.logs.length).toBeGreaterThan(0);
    await first.stop();
    const second = await start();
    expect(second.restored).toBe(true);
    expect(await everything(second)).toEqual(before);
    expect(await deployContracts(second.rpcUrl, deployer)).toEqual(addresses);
  });

  it('is saved when the process that started the chain is killed', async () => {
    const parent = fork(join(import.meta.dirname, 'chain-holder.ts'), { execArgv: [] });
    parent.send(stateDir);
    const [{ host }] = await once(parent, 'message');
    const anvil = anvilPid();
    parent.kill('SIGKILL');
    await until(() => !alive(host) && !alive(anvil), 'both processes have ended');
    expect(await height(await start())).toBe(3);
  });

  it('is the one saved last after a kill of the host, whose anvil is ended by the next start', async () => {
    const first = await start({ saveEveryMs: 100 });
    await mine(first);
    await until(() => existsSync(join(stateDir, 'state.json')), 'the state is saved');
    const anvil = anvilPid();
    const ended = new Promise((resolve) => first.onExit(resolve));
    process.kill(first.pid, 'SIGKILL');
    expect(await ended).toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect(alive(anvil)).toBe(true);
    expect(await height(await start())).toBe(1);
    await until(() => !alive(anvil), 'the orphan is ended');
  });

  it('is the last complete one when a save was cut short', async () => {
    const first = await start();
    await mine(first);
    await first.stop();
    await writeFile(join(stateDir, 'state.json.tmp'), '{"block": {');
    expect(await height(await start())).toBe(1);
  });

  it('is left behind by a chain that begins anew', async () => {
    const first = await start();
    await mine(first);
    // Waits for what the earlier host still saves.
    const [second] = await Promise.all([start({ discard: true }), first.stop()]);
    expect([second.restored, await height(second)]).toEqual([false, 0]);
  });

  it('that can not be read is an error that names the file', async () => {
    await writeFile(join(stateDir, 'state.json'), '{"block": {');
    await expect(start()).rejects.toMatchObject({
      code: 'DATA_DIR_DAMAGED',
      field: 'DATA_DIR',
      message: expect.stringContaining('state.json'),
    });
    await rm(join(stateDir, 'state.json'));
    expect((await start()).restored).toBe(false);
  });
});

describe('its folder', () => {
  it('is not called damaged when the node cannot be recorded', async () => {
    const first = await start();
    await mine(first);
    await first.stop();
    await symlink(join(stateDir, 'missing', 'pid'), join(stateDir, 'anvil.pid'));
    await expect(start()).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('ENOENT') });
    expect(await height(await start())).toBe(1);
  });

  it('belongs to one chain at a time', async () => {
    const first = await start();
    await expect(start({ inUseTimeoutMs: 100 })).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE', retryable: true });
    const waiting = start();
    await first.stop();
    expect((await waiting).restored).toBe(true);
  });

  it('is free again when anvil ends by itself, which is reported', async () => {
    const chain = await start();
    const ended = new Promise((resolve) => chain.onExit(resolve));
    process.kill(anvilPid(), 'SIGKILL');
    expect(await ended).toMatchObject({ code: 'CHAIN_UNREACHABLE', message: expect.stringContaining('anvil ended by itself') });
    await start();
  });
});
