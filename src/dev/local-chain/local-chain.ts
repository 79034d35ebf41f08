import { resolve } from 'node:path';
import { type ChildHost, startChildHost } from '../../platform/child-process/child-host.ts';
import { LOCAL_CHAIN_ID } from '../../platform/config/chain-ids.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import type { NodeFetch } from '../../platform/outbound/evm-client.ts';
import type { ChainHostPayload, ChainHostReady } from './chain-host.ts';
import { createIpcFetch, type NodeConnection } from './rpc/node-fetch.ts';

export interface LocalChainOptions extends Partial<Omit<ChainHostPayload, 'stateDir' | 'genesisTimestamp'>> {
  stateDir: string;
  /** Unix milliseconds of block 0 of a new chain, at most the first replayed date; default: now. */
  genesisMs?: number;
}

export interface LocalChain extends Omit<ChainHostReady, 'ipcPath' | 'writePath'>, Pick<ChildHost<never>, 'pid' | 'stop' | 'onExit'> {
  /** For the client of `rpcUrl` in this process, over the node's Unix socket. */
  fetch: NodeFetch;
  chainId: number;
  /**
   * In Unix milliseconds truncated to seconds; the clock runs from there.
   * @param attestsAlone No other process attests in that block, so that this one may prepare the node for its own attestations.
   * @throws OracleError INPUT_INVALID before the last block
   */
  setNextBlockTime(ms: number, options?: { attestsAlone?: boolean }): Promise<void>;
  /** Without a block. */
  syncToWallClock(): Promise<void>;
  /** Time of the last block, Unix milliseconds. */
  readLastBlockMs(): Promise<number>;
  /** Sets the chain's clock to the wall clock, mines a block, and keeps the last block fresh. */
  followWallClock(): Promise<void>;
}

const CHECK_EVERY_MS = 60_000;
/** A chain that could not be saved on a full disk may have many writes to repeat. */
const RESTORE_TIMEOUT_MS = 300_000;
/** Payments are simulated at the last block's time; their validity begins ten minutes in the past. */
const STALE_AFTER_S = 240;

/**
 * In a process of its own, out of reach of browser pages. No acknowledged write is lost when all processes are killed. A restored chain, and a
 * new one without `genesisMs`, has the wall clock's time. @throws OracleError DATA_DIR_DAMAGED, DATA_DIR_IN_USE, CONFIG_INVALID without anvil
 */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { stateDir, genesisMs, chainId = LOCAL_CHAIN_ID, port = 0, inUseTimeoutMs = 8_000, discard = false } = options;
  const genesisTimestamp = genesisMs === undefined ? undefined : Math.floor(genesisMs / 1000);
  const host = await startChildHost<ChainHostReady>({
    module: new URL('./chain-host.ts', import.meta.url),
    name: 'local chain',
    failureCode: 'CHAIN_UNREACHABLE',
    payload: { stateDir: resolve(stateDir), chainId, port, genesisTimestamp, inUseTimeoutMs, discard } satisfies ChainHostPayload,
    readyTimeoutMs: inUseTimeoutMs + RESTORE_TIMEOUT_MS,
  });
  const { ipcPath, writePath, ...ready } = host.ready;
  const { restored } = ready;
  const node = createIpcFetch(ipcPath, writePath);
  const clock = createChainClock(node);
  if (restored || genesisMs === undefined) await clock.syncToWallClock();
  return {
    ...ready,
    fetch: node.fetch,
    chainId,
    pid: host.pid,
    setNextBlockTime: clock.setNextBlockTime,
    syncToWallClock: async () => void (await clock.syncToWallClock()),
    readLastBlockMs: async () => 1000 * (await readLastBlockTime(node.call)),
    followWallClock: clock.followWallClock,
    stop: () => {
      clock.stop();
      node.close();
      return host.stop();
    },
    onExit: host.onExit,
  };
}

type Call = NodeConnection['call'];

function createChainClock({ call, expectBlockAt }: NodeConnection) {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearInterval(timer);
  const sync = () => syncToWallClock(call);

  async function refresh(): Promise<void> {
    if ((await sync()) > STALE_AFTER_S) await call('evm_mine');
  }

  return {
    stop,
    syncToWallClock: sync,
    async setNextBlockTime(ms: number, { attestsAlone = false } = {}): Promise<void> {
      stop();
      const seconds = Math.floor(ms / 1000);
      const [last] = await Promise.all([readLastBlockTime(call), setNextBlockTime(call, seconds)]);
      if (attestsAlone && last < seconds) expectBlockAt(seconds);
    },
    async followWallClock(): Promise<void> {
      stop();
      await sync();
      await call('evm_mine');
      // An unreachable chain is reported by its users.
      timer = setInterval(() => refresh().catch(() => {}), CHECK_EVERY_MS).unref();
    },
  };
}

/** The node rejects a time before its last block or its clock, which `evm_setTime` alone moves back. */
async function setNextBlockTime(call: Call, seconds: number): Promise<void> {
  try {
    await call('evm_setNextBlockTimestamp', seconds);
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
    await moveClockBack(call, seconds);
  }
}

async function moveClockBack(call: Call, seconds: number): Promise<void> {
  const last = await readLastBlockTime(call);
  if (seconds < last) {
    const message = `The chain is already at ${formatIsoSeconds(last)}; no block can be dated ${formatIsoSeconds(seconds)}`;
    throw new OracleError('INPUT_INVALID', message, { field: 'ms' });
  }
  await call('evm_setTime', seconds);
  await call('evm_setNextBlockTimestamp', seconds);
}

/** Resolves to the age of the last block in seconds. Block times never decrease, so the clock waits for a last block in the future. */
async function syncToWallClock(call: Call): Promise<number> {
  const last = await readLastBlockTime(call);
  const now = Math.floor(Date.now() / 1000);
  await call('evm_setTime', Math.max(now, last));
  return now - last;
}

async function readLastBlockTime(call: Call): Promise<number> {
  const block = await call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  return Number(block.timestamp);
}

function formatIsoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
