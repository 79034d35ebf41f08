import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { filterChildEnvironment } from '../../platform/child-process/child-environment.ts';
import { stopChild } from '../../platform/child-process/stop-child.ts';
import { OracleError } from '../../platform/errors.ts';

export interface AnvilOptions {
  chainId: number;
  /** TCP address, with any free port; default 127.0.0.1. */
  host?: string;
  /** Additional Unix domain socket. */
  ipcPath?: string;
  /** Uncompressed state of `anvil_dumpState`. */
  loadState?: string;
  /** Unix seconds of block 0; default: now. */
  genesisTimestamp?: number;
  /** Endpoint of a chain to fork at its block 0. Keeps the newest state alone: each other one would be a copy of everything. */
  forkUrl?: string;
  extraArguments?: string[];
  /** At once; the node is killed when this throws. */
  onSpawn?(pid: number): void;
}

export interface Anvil {
  rpcUrl: string;
  pid: number;
  /** Exit code or signal, with the end of the output. */
  exited: Promise<string>;
  kill(): Promise<void>;
}

const MAX_TAIL_CHARS = 1_000;
const KILL_AFTER_MS = 3_000;
/** Without a limit anvil fills a folder in the user's home directory. */
const STATES_IN_MEMORY = 256;
/** As on a chain that is no fork. By its chain id, a fork would be a rollup under the rules of its genesis date. */
const FORK_RULES = ['--network', 'ethereum', '--hardfork', 'bpo1'];
/** Settings of anvil's allocator, which otherwise keeps 100 MB of what reading a saved state of ten years has used. */
const RETURN_FREED_MEMORY = 'dirty_decay_ms:0,muzzy_decay_ms:0,narenas:1';
/** Wei, as on Base. */
const BASE_FEE = '10000000';

/** The wrapper script of `@foundry-rs/anvil` does not forward signals. @throws OracleError CONFIG_INVALID if the package is missing */
export function findAnvilBinary(): string {
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

/** Anvil checks neither `Origin` nor `Host`: a browser page can control a port that it can reach. @throws Error with anvil's output */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const env = { ...filterChildEnvironment(), _RJEM_MALLOC_CONF: RETURN_FREED_MEMORY };
  const child = spawn(findAnvilBinary(), buildArguments(options), { stdio: ['ignore', 'pipe', 'pipe'], env });
  const { port, exited } = watchOutput(child);
  const kill = () => stopChild(child, exited, KILL_AFTER_MS);
  try {
    if (child.pid !== undefined) options.onSpawn?.(child.pid);
  } catch (error) {
    await kill();
    throw error;
  }
  const outcome = await Promise.race([port, exited]);
  if (typeof outcome === 'string') throw new Error(`anvil did not start: ${outcome}`);
  return { rpcUrl: `http://127.0.0.1:${outcome}`, pid: child.pid!, exited, kill };
}

function buildArguments(options: AnvilOptions): string[] {
  const { chainId, host = '127.0.0.1', ipcPath, loadState, genesisTimestamp, forkUrl, extraArguments = [] } = options;
  const optional = [
    ...(ipcPath === undefined ? [] : ['--ipc', ipcPath]),
    ...(loadState === undefined ? [] : ['--load-state', loadState]),
    ...(genesisTimestamp === undefined ? [] : ['--timestamp', String(genesisTimestamp)]),
  ];
  const fork = ['--prune-history', '--fork-block-number', '0', '--no-storage-caching', '--no-rate-limit', ...FORK_RULES];
  const source = forkUrl === undefined ? ['--prune-history', String(STATES_IN_MEMORY)] : [...fork, '--fork-url', forkUrl];
  const fixed = ['--host', host, '--accounts', '0', '--no-cors'];
  return ['--chain-id', String(chainId), '--port', '0', '--base-fee', BASE_FEE, ...fixed, ...source, ...optional, ...extraArguments];
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
