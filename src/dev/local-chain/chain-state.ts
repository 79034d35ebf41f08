import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonFileOrNull, replaceFile } from '../../platform/data-dir/json-file.ts';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import { connectNode, type NodeSocket } from './rpc/node-socket.ts';
import { dumpState } from './state-dump.ts';

export interface StateSaver {
  /** Saves a last time. @throws errors of that save */
  close(): Promise<void>;
}

const MIN_PAUSE_MS = 500;
/** Saving blocks the chain, so it takes at most a twentieth of the time. */
const PAUSE_FACTOR = 20;

export function getStateFile(stateDir: string): string {
  return join(stateDir, 'state.json');
}

function getGenesisFile(stateDir: string): string {
  return join(stateDir, 'genesis.json');
}

export function discardState(stateDir: string): void {
  for (const path of [getStateFile(stateDir), getGenesisFile(stateDir)]) rmSync(path, { force: true });
}

/** Unix seconds of block 0, which a saved state does not contain. The first time stands; states of earlier versions contain the block. */
export async function ensureGenesisTimestamp(stateDir: string, timestamp: number | undefined): Promise<number> {
  const path = getGenesisFile(stateDir);
  const known = (await readJsonFileOrNull(path)) as { timestamp: number } | null;
  if (known !== null && timestamp === undefined) return known.timestamp;
  const genesis = { timestamp: timestamp ?? Math.floor(Date.now() / 1_000) };
  await replaceFile(path, Buffer.from(JSON.stringify(genesis)), { temporary: `${path}.tmp` });
  return genesis.timestamp;
}

/** Saves a chain's state with blocks, transactions and receipts, soon after each new block and on `close`. */
export function startStateSaver(ipcPath: string, stateDir: string): StateSaver {
  const node = connectNode({ path: ipcPath });
  let savedBlock = '';
  let running = Promise.resolve();
  let timer = schedule(MIN_PAUSE_MS);
  let closed = false;

  function schedule(pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      running = saveIfChanged();
    }, pauseMs);
  }

  async function saveIfChanged(): Promise<void> {
    const started = performance.now();
    try {
      const block = await callNode(node, 'eth_blockNumber');
      if (block !== savedBlock) await saveState(ipcPath, stateDir);
      savedBlock = block;
    } catch (error) {
      console.error(`the chain state was not saved: ${getErrorMessage(error)}`);
    }
    if (!closed) timer = schedule(Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (performance.now() - started)));
  }

  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
      await saveState(ipcPath, stateDir).finally(() => node.close());
    },
  };
}

async function callNode(node: NodeSocket, method: string): Promise<string> {
  const { result, error } = await node.call(method);
  if (error) throw new OracleError('CHAIN_REVERTED', `${method} was refused: ${error.message}`);
  return result as string;
}

async function saveState(ipcPath: string, stateDir: string): Promise<void> {
  const path = getStateFile(stateDir);
  // A fixed temporary name: a killed host leaves one file at most.
  await dumpState(ipcPath, (state) => replaceFile(path, state, { temporary: `${path}.tmp` }));
}
