import { existsSync, mkdirSync } from 'node:fs';
import { type OpenedHost, runHostProcess } from '../../platform/child-process/host-process.ts';
import { damagedPartError } from '../../platform/data-dir/entries.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import { acquireChainLock } from './chain-lock.ts';
import { discardState, ensureGenesisTimestamp, getStateFile, startStateSaver } from './chain-state.ts';
import { type PrivateAnvil, startPrivateAnvil } from './private-anvil.ts';
import { serveRpcEndpoint } from './rpc/endpoint.ts';

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
  /** The node's Unix domain socket. */
  ipcPath: string;
  restored: boolean;
}

/** The process that owns anvil outlives a killed parent just long enough to save the state. */
runHostProcess(openChainHost);

async function openChainHost(payload: ChainHostPayload): Promise<OpenedHost<ChainHostReady>> {
  mkdirSync(payload.stateDir, { recursive: true });
  const lock = await acquireChainLock(payload.stateDir, payload.inUseTimeoutMs);
  // After the lock: an earlier host saves until it releases it.
  if (payload.discard) discardState(payload.stateDir);
  const restored = existsSync(getStateFile(payload.stateDir));
  const anvil = await startAnvilNode(payload, restored).catch(async (error) => {
    await lock.release();
    throw error;
  });
  await lock.recordAnvilPid(anvil.pid);
  const endpoint = await serveRpcEndpoint(anvil.ipcPath, payload.port).catch(async (error) => {
    await anvil.kill();
    await lock.release();
    throw error;
  });
  const saver = startStateSaver(anvil.ipcPath, payload.stateDir);
  let closing = false;
  anvil.exited.then(async (how) => {
    if (closing) return;
    console.error(`anvil ended by itself: ${how}`);
    await lock.release();
    process.exit(1);
  });
  return {
    ready: { rpcUrl: endpoint.ownerUrl, publicRpcUrl: endpoint.publicUrl, ipcPath: anvil.ipcPath, restored },
    close: async () => {
      closing = true;
      await endpoint.close();
      await saver.close().finally(() => anvil.kill());
      await lock.release();
    },
  };
}

async function startAnvilNode({ stateDir, chainId, genesisTimestamp }: ChainHostPayload, restored: boolean): Promise<PrivateAnvil> {
  const anvil = { chainId, genesisTimestamp: await ensureGenesisTimestamp(stateDir, restored ? undefined : genesisTimestamp) };
  if (!restored) return startPrivateAnvil(anvil);
  try {
    return await startPrivateAnvil({ ...anvil, loadState: getStateFile(stateDir) });
  } catch (cause) {
    throw damagedPartError(`The saved chain in ${getStateFile(stateDir)} can not be read: ${getErrorMessage(cause)}`, cause);
  }
}
