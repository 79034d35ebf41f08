import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { replaceFile } from '../../platform/data-dir/json-file.ts';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import { connectNode, type NodeSocket } from './rpc/node-socket.ts';

export interface StateSaver {
  /** Saves a last time. @throws errors of that save */
  close(): Promise<void>;
}

const unzip = promisify(gunzip);
const MIN_PAUSE_MS = 500;
/** Saving blocks the chain, so it takes at most a twentieth of the time. */
const PAUSE_FACTOR = 20;

export function getStateFile(stateDir: string): string {
  return join(stateDir, 'state.json');
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
      if (block !== savedBlock) await saveState(node, stateDir);
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
      await saveState(node, stateDir).finally(() => node.close());
    },
  };
}

async function callNode(node: NodeSocket, method: string): Promise<string> {
  const { result, error } = await node.call(method);
  if (error) throw new OracleError('CHAIN_REVERTED', `${method} was refused: ${error.message}`);
  return result as string;
}

async function saveState(node: NodeSocket, stateDir: string): Promise<void> {
  const packed = await callNode(node, 'anvil_dumpState');
  const path = getStateFile(stateDir);
  // A fixed temporary name: a killed host leaves one file at most.
  await replaceFile(path, await unzip(Buffer.from(packed.slice(2), 'hex')), { temporary: `${path}.tmp` });
}
