import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getErrorMessage, OracleError } from '../../errors.ts';
import { filterChildEnvironment, stopChild } from '../../platform/child-process.ts';

interface AnvilOptions {
  chainId: number;
  /** Unix seconds of block 0; default: now. */
  genesisTimestamp?: number;
}

interface Anvil {
  rpcUrl: string;
  pid: number;
  /** Exit code or signal, with the end of the output. */
  exited: Promise<string>;
  kill(): Promise<void>;
}

interface PrivateAnvilOptions extends Required<AnvilOptions> {
  /** File with the uncompressed state of `anvil_dumpState`. */
  loadState?: string;
  /** At once; the node is killed when this throws. */
  onSpawn(pid: number): void;
}

export interface PrivateAnvil extends Omit<Anvil, 'rpcUrl'> {
  /** Unix domain socket, in a folder that only this user can enter. */
  ipcPath: string;
}

const MAX_TAIL_CHARS = 1_000;
const KILL_AFTER_MS = 3_000;
/** Without a limit anvil fills a folder in the user's home directory. */
const STATES_IN_MEMORY = 256;
/** Of a chain that grows for years: each is a copy of everything. A reader may ask for a block that was the newest just now. */
const PRIVATE_STATES_IN_MEMORY = 8;
/** By its chain id, a fork would be a rollup under the rules of its genesis date. */
const FORK_ARGUMENTS = '--fork-block-number 0 --no-storage-caching --no-rate-limit --network ethereum --hardfork bpo1'.split(' ');
/** Settings of anvil's allocator, which otherwise keeps 100 MB of what reading a saved state of ten years has used. */
const RETURN_FREED_MEMORY = 'dirty_decay_ms:0,muzzy_decay_ms:0,narenas:1';
/** Wei, as on Base. */
const BASE_FEE = 10_000_000;
/** `EADDRNOTAVAIL` on Linux, and with an apostrophe on macOS. */
const ADDRESS_UNAVAILABLE = /can(no|')t assign requested address/i;

/** On any free port of 127.0.0.1. @throws Error with anvil's output; OracleError CONFIG_INVALID if the package is missing */
export function startAnvil({ chainId, genesisTimestamp }: AnvilOptions): Promise<Anvil> {
  const dated = genesisTimestamp === undefined ? [] : ['--timestamp', String(genesisTimestamp)];
  return spawnAnvil(['--chain-id', String(chainId), '--host', '127.0.0.1', '--prune-history', String(STATES_IN_MEMORY), ...dated]);
}

/**
 * Anvil checks neither `Origin` nor `Host`, so it is served on a Unix domain socket, which browser pages cannot reach; its TCP port is bound to
 * an unreachable address where possible. It forks a chain without content: anvil recomputes the root of the whole state for each block, except
 * on forks, where a block costs the same at any age.
 */
export async function startPrivateAnvil({ chainId, genesisTimestamp, loadState, onSpawn }: PrivateAnvilOptions): Promise<PrivateAnvil> {
  // A socket path is limited to 104 bytes, which a path below DATA_DIR may exceed.
  const folder = await mkdtemp(join(tmpdir(), 'anvil-'));
  const [ipcPath, forkUrl] = [join(folder, 'rpc'), join(folder, 'empty')];
  const emptyChain = await serveEmptyChain(forkUrl, genesisTimestamp);
  const release = () => {
    emptyChain.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const states = ['--prune-history', String(PRIVATE_STATES_IN_MEMORY), ...(loadState === undefined ? [] : ['--load-state', loadState])];
  const sources = ['--chain-id', String(chainId), '--fork-url', forkUrl, ...FORK_ARGUMENTS, '--ipc', ipcPath, ...states];
  try {
    const { rpcUrl: _, ...anvil } = await startOnUnusedAddress(sources, onSpawn);
    void anvil.exited.then(release);
    return { ...anvil, ipcPath };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Linux can listen on the broadcast address, to which nothing connects. Where it cannot be bound (gVisor), one of 16 million loopback
 * addresses and 30,000 ports is used, more than a page can scan. macOS has only 127.0.0.1, where a page that finds the port gets access.
 */
async function startOnUnusedAddress(args: readonly string[], onSpawn: (pid: number) => void): Promise<Anvil> {
  const byte = () => randomInt(1, 255);
  for (const host of ['255.255.255.255', `127.${byte()}.${byte()}.${byte()}`]) {
    try {
      return await spawnAnvil([...args, '--host', host], onSpawn);
    } catch (error) {
      if (!ADDRESS_UNAVAILABLE.test(getErrorMessage(error))) throw error;
    }
  }
  return spawnAnvil([...args, '--host', '127.0.0.1'], onSpawn);
}

async function spawnAnvil(args: readonly string[], onSpawn: (pid: number) => void = () => {}): Promise<Anvil> {
  const env = { ...filterChildEnvironment(), _RJEM_MALLOC_CONF: RETURN_FREED_MEMORY };
  const fixed = ['--port', '0', '--base-fee', String(BASE_FEE), '--accounts', '0', '--no-cors'];
  const child = spawn(findAnvilBinary(), [...args, ...fixed], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const { port, exited } = watchOutput(child);
  const kill = () => stopChild(child, exited, KILL_AFTER_MS);
  try {
    if (child.pid !== undefined) onSpawn(child.pid);
  } catch (error) {
    await kill();
    throw error;
  }
  const outcome = await Promise.race([port, exited]);
  if (typeof outcome === 'string') throw new Error(`anvil did not start: ${outcome}`);
  return { rpcUrl: `http://127.0.0.1:${outcome}`, pid: child.pid!, exited, kill };
}

/** The wrapper script of `@foundry-rs/anvil` does not forward signals. */
function findAnvilBinary(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    const platformPackage = createRequire(wrapper).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`);
    return join(dirname(platformPackage), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `There is no local chain for ${process.platform}-${process.arch}`, {
      field: 'CHAIN_RPC_URL',
      suggestedAction: 'Install the optional dependencies, or set CHAIN_RPC_URL to a chain.',
      cause,
    });
  }
}

/** Drains the output, so that the pipe never fills, and keeps its end for error messages. */
function watchOutput(child: ChildProcess): { port: Promise<number>; exited: Promise<string> } {
  const port = Promise.withResolvers<number>();
  const exited = Promise.withResolvers<string>();
  let tail = '';
  const read = (text: string) => {
    tail = (tail + text).slice(-MAX_TAIL_CHARS);
    const listening = /Listening on [\d.]+:(\d+)/.exec(tail);
    if (listening) port.resolve(Number(listening[1]));
  };
  child.stdout!.setEncoding('utf8').on('data', read);
  child.stderr!.setEncoding('utf8').on('data', read);
  child.once('error', (error) => exited.resolve(error.message));
  child.once('close', (code, signal) => exited.resolve(`${signal ?? `exit code ${code}`}: ${tail.trim()}`));
  return { port: port.promise, exited: exited.promise };
}

interface RpcRequest {
  id: unknown;
  method: string;
  params?: unknown[];
}

/** @param path of its Unix domain socket @param genesisTimestamp Unix seconds of block 0, the only one */
async function serveEmptyChain(path: string, genesisTimestamp: number): Promise<Server> {
  const results = buildEmptyChain(genesisTimestamp);
  const answer = (text: string): string => {
    const { id, method, params } = JSON.parse(text) as RpcRequest;
    if (method in results) return JSON.stringify({ jsonrpc: '2.0', id, result: results[method]!(params?.[0]) });
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: `${method} is not answered by an empty chain` } });
  };
  const server = createServer((socket) => {
    let pending = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      pending += chunk;
      // Requests follow each other without a separator, and have no text with braces.
      if (pending.split('{').length !== pending.split('}').length) return;
      const requests = pending.replaceAll('}{', '}\n{').trim().split('\n');
      pending = '';
      for (const request of requests) socket.write(`${answer(request)}\n`);
    });
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(path, listening));
  return server;
}

function buildEmptyChain(timestamp: number): Readonly<Record<string, (param: unknown) => unknown>> {
  const zero = (bytes: number) => `0x${'00'.repeat(bytes)}`;
  const emptyTrie = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
  const hash = `0x${createHash('sha256').update(`local chain from ${timestamp}`).digest('hex')}`;
  const genesis = {
    ...{ number: '0x0', hash, parentHash: zero(32), mixHash: zero(32), nonce: zero(8), miner: zero(20), logsBloom: zero(256) },
    ...{ transactionsRoot: emptyTrie, stateRoot: emptyTrie, receiptsRoot: emptyTrie, withdrawalsRoot: emptyTrie },
    ...{ difficulty: '0x0', totalDifficulty: '0x0', extraData: '0x', size: '0x21a', gasLimit: '0x1c9c380', gasUsed: '0x0' },
    ...{ blobGasUsed: '0x0', excessBlobGas: '0x0', baseFeePerGas: `0x${BASE_FEE.toString(16)}`, parentBeaconBlockRoot: zero(32) },
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    ...{ timestamp: `0x${timestamp.toString(16)}`, transactions: [], uncles: [], withdrawals: [] },
  };
  return {
    // Of no network that anvil knows: with the id of a rollup it would behave as one.
    eth_chainId: () => '0x7a69',
    net_version: () => '31337',
    eth_blockNumber: () => '0x0',
    eth_gasPrice: () => genesis.baseFeePerGas,
    eth_getBlockByNumber: (number) => (Number(number) > 0 ? null : genesis),
    eth_getBlockByHash: (of) => (of === hash ? genesis : null),
    eth_getBalance: () => '0x0',
    eth_getTransactionCount: () => '0x0',
    eth_getCode: () => '0x',
    eth_getStorageAt: () => zero(32),
    eth_getLogs: () => [],
    eth_getTransactionByHash: () => null,
    eth_getTransactionReceipt: () => null,
    eth_getBlockReceipts: () => [],
  };
}
