import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type OpenedHost, runHostProcess } from '../../platform/child-process/host-process.ts';
import { damagedPartError, toDataDirError } from '../../platform/data-dir/entries.ts';
import { makeFolder } from '../../platform/data-dir/json-file.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import { acquireChainLock } from './chain-lock.ts';
import { discardState, ensureGenesisTimestamp, getLogFile, getStateFile, startStateSaver } from './chain-state.ts';
import { type PrivateAnvil, startPrivateAnvil } from './private-anvil.ts';
import { serveRpcEndpoint } from './rpc/endpoint.ts';
import { connectNode } from './rpc/node-socket.ts';
import { createChainWriter, routeWrites } from './writes/chain-writer.ts';
import { restoreWrites } from './writes/restore-writes.ts';
import { serveWrites } from './writes/write-endpoint.ts';
import { type ChainWrite, openWriteLog, readWriteLog } from './writes/write-log.ts';

export interface ChainHostPayload {
  stateDir: string;
  chainId: number;
  /** 0: any free port. */
  port: number;
  /** Unix seconds of block 0 of a new chain; default: now. */
  genesisTimestamp?: number;
  inUseTimeoutMs: number;
  discard: boolean;
}

export interface ChainHostReady {
  rpcUrl: string;
  /** Endpoint of all programs on this machine. */
  publicRpcUrl: string;
  /** The node's Unix domain socket, for all but writes. */
  ipcPath: string;
  /** The Unix domain socket for writes, which are logged before the node receives them. */
  writePath: string;
  restored: boolean;
}

/** The process that owns anvil outlives a killed parent just long enough to save the state. */
runHostProcess((payload: ChainHostPayload) =>
  openChainHost(payload).catch((error: unknown) => {
    throw toDataDirError(dirname(payload.stateDir), error);
  }),
);

async function openChainHost(payload: ChainHostPayload): Promise<OpenedHost<ChainHostReady>> {
  await makeFolder(payload.stateDir, 0o755);
  const lock = await acquireChainLock(payload.stateDir, payload.inUseTimeoutMs);
  // After the lock: an earlier host saves until it releases it.
  if (payload.discard) discardState(payload.stateDir);
  const { writes } = await readWriteLog(getLogFile(payload.stateDir));
  const isSaved = existsSync(getStateFile(payload.stateDir));
  const found = { isSaved, isNew: !isSaved && writes.length === 0 };
  const anvil = await startAnvilNode(payload, found, lock.recordAnvilPid).catch(async (error) => {
    await lock.release();
    throw error;
  });
  const served = await serveNode(anvil, payload, writes).catch(async (error) => {
    await anvil.kill();
    await lock.release();
    throw error;
  });
  let closing = false;
  anvil.exited.then(async (how) => {
    if (closing) return;
    console.error(`anvil ended by itself: ${how}`);
    await lock.release();
    process.exit(1);
  });
  return {
    ready: { ...served.ready, ipcPath: anvil.ipcPath, restored: isSaved || writes.length > 0 },
    close: async () => {
      closing = true;
      await served.close().finally(() => anvil.kill());
      await lock.release();
    },
  };
}

async function startAnvilNode(
  { stateDir, chainId, genesisTimestamp }: ChainHostPayload,
  { isSaved, isNew }: { isSaved: boolean; isNew: boolean },
  onSpawn: (pid: number) => void,
): Promise<PrivateAnvil> {
  const anvil = { chainId, genesisTimestamp: await ensureGenesisTimestamp(stateDir, isNew ? genesisTimestamp : undefined), onSpawn };
  if (!isSaved) return startPrivateAnvil(anvil);
  try {
    return await startPrivateAnvil({ ...anvil, loadState: getStateFile(stateDir) });
  } catch (cause) {
    // Of the setup or the disk: the node itself has not seen the state.
    if ((cause as NodeJS.ErrnoException).code !== undefined) throw cause;
    throw damagedPartError(`The saved chain in ${getStateFile(stateDir)} can not be read: ${getErrorMessage(cause)}`, cause);
  }
}

/** Repeats what the saved state lacks, then serves the node and saves its state. */
async function serveNode({ ipcPath }: PrivateAnvil, { stateDir, port }: ChainHostPayload, writes: readonly ChainWrite[]) {
  const node = connectNode({ path: ipcPath });
  // A line of output for each request. Not by a flag: a node whose host is killed before it has recorded the pid ends when it prints its address.
  await node.call('anvil_setLoggingEnabled', [false]);
  await restoreWrites(node, writes);
  const log = await openWriteLog(getLogFile(stateDir));
  const writer = createChainWriter(node, log);
  const writePath = join(dirname(ipcPath), 'writes');
  const writeEndpoint = await serveWrites(writePath, writer);
  const endpoint = await serveRpcEndpoint((options) => routeWrites(connectNode({ path: ipcPath, ...options }), writer), port);
  const saver = startStateSaver({ ipcPath, stateDir, writer, log });
  return {
    ready: { rpcUrl: endpoint.ownerUrl, publicRpcUrl: endpoint.publicUrl, writePath },
    async close(): Promise<void> {
      await endpoint.close();
      writeEndpoint.close();
      await saver.close().finally(() => node.close());
      await log.close();
    },
  };
}
