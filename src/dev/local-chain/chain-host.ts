import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { getErrorMessage, isOracleError } from '../../errors.ts';
import { type OpenedHost, runHostProcess } from '../../platform/child-process.ts';
import { acquireFolderLock, damagedPartError, getProcessIdentity, toDataDirError } from '../../platform/data-dir.ts';
import { makeFolder, readJsonFileOrNull, replaceFile } from '../../platform/secrets.ts';
import { type PrivateAnvil, startPrivateAnvil } from './anvil.ts';
import { connectNode, type NodeSocket, serveRpcEndpoint } from './rpc.ts';

export interface ChainHostPayload {
  stateDir: string;
  chainId: number;
  /** 0: any free port. */
  port: number;
  /** Unix seconds of block 0 of a new chain; default: now. */
  genesisTimestamp?: number;
  inUseTimeoutMs: number;
  discard: boolean;
  /** A kill loses the blocks since the last save. The pause grows with the state: a save, which blocks the chain, takes a twentieth of the time at most. */
  saveEveryMs: number;
}

export interface ChainHostReady {
  rpcUrl: string;
  /** Endpoint of all programs on this machine. */
  publicRpcUrl: string;
  /** The node's Unix domain socket. */
  ipcPath: string;
  /** Whether the chain goes on from a saved state. */
  restored: boolean;
}

const LOCK_RETRY_MS = 100;
const SAVE_PAUSE_FACTOR = 20;

/** The process that owns anvil outlives a killed parent just long enough to save the state. */
runHostProcess((payload: ChainHostPayload) =>
  openChainHost(payload).catch((error: unknown) => {
    throw toDataDirError(dirname(payload.stateDir), error);
  }),
);

async function openChainHost({ stateDir, port, ...payload }: ChainHostPayload): Promise<OpenedHost<ChainHostReady>> {
  await makeFolder(stateDir, 0o755);
  const lock = await acquireChainLock(stateDir, payload.inUseTimeoutMs);
  const cleanUp = [lock.release];
  try {
    const [stateFile, genesisFile] = [join(stateDir, 'state.json'), join(stateDir, 'genesis.json')];
    // After the lock: an earlier host saves until it releases it.
    if (payload.discard) for (const path of [stateFile, genesisFile]) rmSync(path, { force: true });
    const restored = existsSync(stateFile);
    const genesisTimestamp = await ensureGenesisTimestamp(genesisFile, restored ? undefined : payload.genesisTimestamp);
    const options = { chainId: payload.chainId, genesisTimestamp, onSpawn: lock.recordAnvilPid };
    const anvil = await (restored ? restoreAnvil(options, stateFile) : startPrivateAnvil(options));
    cleanUp.unshift(anvil.kill);
    const node = connectNode(anvil.ipcPath);
    // A line of output for each request. Not by a flag: a node whose host is killed before it has recorded the pid ends when it prints its address.
    await node.call('anvil_setLoggingEnabled', [false]);
    const endpoint = await serveRpcEndpoint(node, port);
    const saver = startStateSaver(node, stateFile, payload.saveEveryMs);
    cleanUp.unshift(endpoint.close, saver.close);
    let closing = false;
    void anvil.exited.then(async (how) => {
      if (closing) return;
      console.error(`anvil ended by itself: ${how}`);
      await lock.release();
      process.exit(1);
    });
    return {
      ready: { rpcUrl: endpoint.ownerUrl, publicRpcUrl: endpoint.publicUrl, ipcPath: anvil.ipcPath, restored },
      close: () => {
        closing = true;
        return runAll(cleanUp);
      },
    };
  } catch (error) {
    await runAll(cleanUp);
    throw error;
  }
}

async function runAll([first, ...rest]: readonly (() => Promise<void>)[]): Promise<void> {
  await first?.().finally(() => runAll(rest));
}

/** Unix seconds of block 0, which a saved state does not contain; states of earlier versions contain the block. */
async function ensureGenesisTimestamp(path: string, timestamp: number | undefined): Promise<number> {
  const known = (await readJsonFileOrNull(path)) as { timestamp: number } | null;
  if (known !== null && timestamp === undefined) return known.timestamp;
  const genesis = { timestamp: timestamp ?? Math.floor(Date.now() / 1_000) };
  await replaceFile(path, JSON.stringify(genesis), { temporary: `${path}.tmp` });
  return genesis.timestamp;
}

async function restoreAnvil(options: Parameters<typeof startPrivateAnvil>[0], stateFile: string): Promise<PrivateAnvil> {
  try {
    return await startPrivateAnvil({ ...options, loadState: stateFile });
  } catch (cause) {
    // Of the setup or the disk: the node itself has not seen the state.
    if ((cause as NodeJS.ErrnoException).code !== undefined) throw cause;
    throw damagedPartError(`The saved chain in ${stateFile} can not be read: ${getErrorMessage(cause)}`, cause);
  }
}

interface ChainLock {
  /** Records the child, so that the next start can kill it if this process was killed: at once, since until then nothing names it. */
  recordAnvilPid(pid: number): void;
  release(): Promise<void>;
}

/** Waits for an earlier process that is still saving, and kills an orphaned anvil. @throws OracleError DATA_DIR_IN_USE after `maxWaitMs` */
async function acquireChainLock(stateDir: string, maxWaitMs: number): Promise<ChainLock> {
  const release = await acquireWithRetries(stateDir, performance.now() + maxWaitMs);
  const pidFile = join(stateDir, 'anvil.pid');
  // Null if absent, or truncated by a crash.
  const { pid, identity } = ((await readJsonFileOrNull(pidFile)) ?? {}) as { pid?: number; identity?: string };
  // The pid may have been reused.
  if (pid !== undefined && identity !== undefined && getProcessIdentity(pid) === identity) process.kill(pid, 'SIGKILL');
  return {
    recordAnvilPid: (started) => writeFileSync(pidFile, JSON.stringify({ pid: started, identity: getProcessIdentity(started) })),
    release: async () => {
      await rm(pidFile, { force: true });
      await release();
    },
  };
}

async function acquireWithRetries(folder: string, deadline: number): Promise<() => Promise<void>> {
  try {
    return await acquireFolderLock(folder);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE') || performance.now() >= deadline) throw error;
  }
  await delay(LOCK_RETRY_MS);
  return acquireWithRetries(folder, deadline);
}

/**
 * Saves the chain with blocks, transactions and receipts while it grows, and on `close`. Not saved are transactions that wait for an earlier nonce.
 * After a failure, such as a full disk, the earlier state stays, and a later save has what it lacks.
 */
function startStateSaver({ call }: NodeSocket, stateFile: string, everyMs: number): { close(): Promise<void> } {
  const closing = new AbortController();
  let savedHeight: unknown;
  const running = saveRepeatedly(everyMs);

  async function saveRepeatedly(pauseMs: number): Promise<void> {
    const isOver = await delay(pauseMs, false, { signal: closing.signal }).catch(() => true);
    if (isOver) return;
    const began = performance.now();
    await reportFailure(async () => (await readHeight()) === savedHeight || save());
    return saveRepeatedly(Math.max(everyMs, SAVE_PAUSE_FACTOR * (performance.now() - began)));
  }

  async function readHeight(): Promise<unknown> {
    return (await call('eth_blockNumber')).result;
  }

  async function save(): Promise<void> {
    const dumped = await dumpState();
    if (dumped === null) return;
    // A fixed temporary name: a killed host leaves one file at most.
    await replaceFile(stateFile, Readable.from([dumped.state]).pipe(createGunzip()), { temporary: `${stateFile}.tmp` });
    savedHeight = dumped.height;
  }

  /** A state that is dumped while a block is mined may have a part of it: transactions wait meanwhile. Null if one is mined all the same. */
  async function dumpState(): Promise<{ height: unknown; state: Buffer } | null> {
    // Another process has switched mining off, for transactions that belong together.
    if ((await call('anvil_getAutomine')).result !== true) return null;
    await call('evm_setAutomine', [false]);
    try {
      const height = await readHeight();
      const { result, error } = await call('anvil_dumpState');
      if (error !== undefined) throw new Error(error.message);
      return (await readHeight()) === height ? { height, state: Buffer.from((result as string).slice(2), 'hex') } : null;
    } finally {
      await call('evm_setAutomine', [true]);
    }
  }

  async function reportFailure(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => console.error(`the chain state was not saved: ${getErrorMessage(error)}`));
  }

  return {
    close: async () => {
      closing.abort();
      await running;
      await reportFailure(save);
    },
  };
}
