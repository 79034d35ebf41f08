import { resolve } from 'node:path';
import { startChildHost } from '../../platform/child-process/child-host.ts';
import { OracleError } from '../../platform/errors.ts';
import type { NodeFetch } from '../../platform/outbound/evm-client.ts';
import type { ChainHostPayload, ChainHostReady } from './chain-host.ts';
import { callJsonRpc } from './json-rpc.ts';
import { createIpcFetch } from './rpc/node-fetch.ts';

export interface LocalChainOptions {
  /** Folder of the saved state; made if it is missing. */
  stateDir: string;
  /** Milliseconds since 1970 of block 0 of a new chain: not after the first date that is to be replayed. Unset: now. */
  genesisMs?: number;
  /** Default 8453, Base. */
  chainId?: number;
  /** Of the endpoint; unset: any free port. */
  port?: number;
  /** How long to wait for an earlier process that is still saving the same chain; 8 s. */
  inUseTimeoutMs?: number;
  /** Begin anew, whatever is saved in the folder; unset: a saved chain is continued. */
  discard?: boolean;
}

export interface LocalChain {
  /** Endpoint for the process that started the chain: all methods, `anvil_*` and `evm_*` included. Its path is a secret. */
  rpcUrl: string;
  /** Endpoint for every program of this machine: reading, and sending signed transactions. */
  publicRpcUrl: string;
  /** `fetch` for the client of `rpcUrl` in this process: reaches the node itself, without HTTP in between. */
  fetch: NodeFetch;
  chainId: number;
  /** Whether a saved chain was continued. */
  restored: boolean;
  /** Process id of the host. */
  pid: number;
  /**
   * The next block carries this time (milliseconds since 1970, whole seconds count); the clock runs on from there.
   * @throws OracleError INPUT_INVALID when it lies before the last block.
   */
  setNextBlockTime(ms: number): Promise<void>;
  /** Time of the last block, milliseconds since 1970. */
  readLastBlockMs(): Promise<number>;
  /** Puts the chain's clock at the wall clock with a block of its own, and keeps the last block from growing old. */
  followWallClock(): Promise<void>;
  /** Saves the state and ends; may be called any number of times. */
  stop(): Promise<void>;
  /** Called once if the chain ends without `stop` having been called. */
  onExit(callback: (error: OracleError) => void): void;
}

const BASE_CHAIN_ID = 8453;
const CHECK_EVERY_MS = 60_000;
/** Payments are simulated at the last block's time, and signed as valid since ten minutes ago. */
const STALE_AFTER_S = 240;

/**
 * Starts a chain for demonstration and tests: anvil behind an endpoint on 127.0.0.1 that pages in a browser cannot call, in a process that survives a killed parent until its
 * state is saved. A restored chain, and a new one without `genesisMs`, is at the wall clock.
 * @throws OracleError DATA_DIR_DAMAGED when the saved state can not be read, DATA_DIR_IN_USE when another process runs a
 * chain in the folder, CONFIG_INVALID where anvil is not installed.
 */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { stateDir, genesisMs, chainId = BASE_CHAIN_ID, port = 0, inUseTimeoutMs = 8_000, discard = false } = options;
  const genesisTimestamp = genesisMs === undefined ? undefined : Math.floor(genesisMs / 1000);
  const host = await startChildHost<ChainHostReady>({
    module: new URL('./chain-host.ts', import.meta.url),
    name: 'local chain',
    failureCode: 'CHAIN_UNREACHABLE',
    payload: { stateDir: resolve(stateDir), chainId, port, genesisTimestamp, inUseTimeoutMs, discard } satisfies ChainHostPayload,
    readyTimeoutMs: inUseTimeoutMs + 30_000,
  });
  const { rpcUrl, publicRpcUrl, ipcPath, restored } = host.ready;
  const node = createIpcFetch(ipcPath);
  const clock = createChainClock(rpcUrl);
  if (restored || genesisMs === undefined) await clock.syncToWallClock();
  return {
    rpcUrl,
    publicRpcUrl,
    fetch: node.fetch,
    chainId,
    restored,
    pid: host.pid,
    setNextBlockTime: clock.setNextBlockTime,
    readLastBlockMs: async () => 1000 * (await readLastBlockTime(rpcUrl)),
    followWallClock: clock.followWallClock,
    stop: () => {
      clock.stop();
      node.close();
      return host.stop();
    },
    onExit: host.onExit,
  };
}

interface ChainClock {
  setNextBlockTime(ms: number): Promise<void>;
  syncToWallClock(): Promise<number>;
  followWallClock(): Promise<void>;
  stop(): void;
}

function createChainClock(rpcUrl: string): ChainClock {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearInterval(timer);
  const sync = () => syncToWallClock(rpcUrl);

  async function refresh(): Promise<void> {
    if ((await sync()) > STALE_AFTER_S) await callJsonRpc(rpcUrl, 'evm_mine');
  }

  return {
    stop,
    syncToWallClock: sync,
    setNextBlockTime: (ms) => {
      stop();
      return setNextBlockTime(rpcUrl, Math.floor(ms / 1000));
    },
    followWallClock: async () => {
      stop();
      await sync();
      await callJsonRpc(rpcUrl, 'evm_mine');
      // A chain that does not answer is reported by whoever needs it.
      timer = setInterval(() => refresh().catch(() => {}), CHECK_EVERY_MS).unref();
    },
  };
}

/** `evm_setTime` moves the clock without a block; it is the only call that moves it back after a look ahead. */
async function setNextBlockTime(rpcUrl: string, seconds: number): Promise<void> {
  const last = await readLastBlockTime(rpcUrl);
  if (seconds < last) {
    throw new OracleError(
      'INPUT_INVALID',
      `The chain is already at ${formatIsoSeconds(last)}; no block can be dated ${formatIsoSeconds(seconds)}`,
      { field: 'ms' },
    );
  }
  await callJsonRpc(rpcUrl, 'evm_setTime', seconds);
  await callJsonRpc(rpcUrl, 'evm_setNextBlockTimestamp', seconds);
}

/** Resolves to the age of the last block in seconds. Times never decrease, so a last block in the future holds the clock until then. */
async function syncToWallClock(rpcUrl: string): Promise<number> {
  const last = await readLastBlockTime(rpcUrl);
  const now = Math.floor(Date.now() / 1000);
  await callJsonRpc(rpcUrl, 'evm_setTime', Math.max(now, last));
  return now - last;
}

async function readLastBlockTime(rpcUrl: string): Promise<number> {
  const block = await callJsonRpc<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', 'latest', false);
  return Number(block.timestamp);
}

function formatIsoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
