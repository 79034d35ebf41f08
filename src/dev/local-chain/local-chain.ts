import { resolve } from 'node:path';
import { OracleError } from '../../errors.ts';
import { type ChildHost, startChildHost } from '../../platform/child-process.ts';
import type { NodeFetch } from '../../platform/outbound/evm.ts';
import { LOCAL_CHAIN_ID } from '../../settings.ts';
import type { ChainHostPayload, ChainHostReady } from './chain-host.ts';
import { answerRpc, connectNode } from './rpc.ts';

export interface LocalChainOptions extends Partial<Omit<ChainHostPayload, 'stateDir' | 'genesisTimestamp'>> {
  stateDir: string;
  /** Unix milliseconds of block 0 of a new chain, at most the first replayed date; default: now. */
  genesisMs?: number;
}

export interface LocalChain extends Omit<ChainHostReady, 'ipcPath'>, Pick<ChildHost<never>, 'pid' | 'stop' | 'onExit'> {
  /** For the client of `rpcUrl` in this process, over the node's Unix socket: half the cost of HTTP, and no checks. */
  fetch: NodeFetch;
  chainId: number;
  /** In Unix milliseconds truncated to seconds; the clock runs from there. @throws OracleError INPUT_INVALID before the last block */
  setNextBlockTime(ms: number): Promise<void>;
  /** Without a block. */
  syncToWallClock(): Promise<void>;
  /** Time of the last block, Unix milliseconds. */
  readLastBlockMs(): Promise<number>;
  /** Sets the chain's clock to the wall clock, mines a block, and keeps the last block fresh. */
  followWallClock(): Promise<void>;
}

const SAVE_EVERY_MS = 10_000;
const CHECK_EVERY_MS = 60_000;
/** A state of ten years takes minutes to read on a slow disk. */
const RESTORE_TIMEOUT_MS = 300_000;
/** Payments are simulated at the last block's time; their validity begins ten minutes in the past. */
const STALE_AFTER_S = 240;

/**
 * In a process of its own, out of reach of browser pages. It goes on from the state that was saved last: at its stop, or shortly before all
 * processes were killed. A restored chain, and a new one without `genesisMs`, has the wall clock's time.
 * @throws OracleError DATA_DIR_DAMAGED, DATA_DIR_IN_USE, CONFIG_INVALID without anvil
 */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const {
    stateDir,
    genesisMs,
    chainId = LOCAL_CHAIN_ID,
    port = 0,
    inUseTimeoutMs = 8_000,
    discard = false,
    saveEveryMs = SAVE_EVERY_MS,
  } = options;
  const genesisTimestamp = genesisMs === undefined ? undefined : Math.floor(genesisMs / 1000);
  const host = await startChildHost<ChainHostReady>({
    module: new URL('./chain-host.ts', import.meta.url),
    name: 'local chain',
    failureCode: 'CHAIN_UNREACHABLE',
    payload: {
      ...{ stateDir: resolve(stateDir), chainId, port, genesisTimestamp, inUseTimeoutMs, discard, saveEveryMs },
    } satisfies ChainHostPayload,
    readyTimeoutMs: inUseTimeoutMs + RESTORE_TIMEOUT_MS,
  });
  const { ipcPath, ...ready } = host.ready;
  const node = connectNode(ipcPath);
  const clock = createChainClock(async <T>(method: string, ...params: unknown[]) => {
    const { result, error } = await node.call(method, params);
    if (error) throw new OracleError('CHAIN_REVERTED', `${method} was refused: ${error.message}`);
    return result as T;
  });
  if (ready.restored || genesisMs === undefined) await clock.syncToWallClock();
  return {
    ...ready,
    ...clock,
    fetch: async (_url, { body, signal } = {}) => {
      const answered = answerRpc(node.call, JSON.parse(String(body)));
      return Response.json((await (signal ? Promise.race([answered, rejectOnAbort(signal)]) : answered)) ?? null);
    },
    chainId,
    pid: host.pid,
    stop: () => {
      clock.stop();
      node.close();
      return host.stop();
    },
    onExit: host.onExit,
  };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

/** @throws OracleError CHAIN_UNREACHABLE without a response, CHAIN_REVERTED for an error of the node */
type Call = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

function createChainClock(call: Call) {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearInterval(timer);

  async function readLastBlockTime(): Promise<number> {
    return Number((await call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)).timestamp);
  }

  /** Resolves to the age of the last block in seconds. Block times never decrease, so the clock waits for a last block in the future. */
  async function sync(): Promise<number> {
    const last = await readLastBlockTime();
    const now = Math.floor(Date.now() / 1000);
    await call('evm_setTime', Math.max(now, last));
    return now - last;
  }

  async function refresh(): Promise<void> {
    if ((await sync()) > STALE_AFTER_S) await call('evm_mine');
  }

  return {
    stop,
    syncToWallClock: async () => void (await sync()),
    readLastBlockMs: async () => 1000 * (await readLastBlockTime()),
    async setNextBlockTime(ms: number): Promise<void> {
      stop();
      const seconds = Math.floor(ms / 1000);
      const last = await readLastBlockTime();
      if (seconds < last) {
        const [is, wanted] = [last, seconds].map((time) => new Date(time * 1000).toISOString());
        throw new OracleError('INPUT_INVALID', `The chain is already at ${is}; no block can be dated ${wanted}`, { field: 'ms' });
      }
      // The node rejects a time before its clock, which this alone moves back.
      await call('evm_setTime', seconds);
      await call('evm_setNextBlockTimestamp', seconds);
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
