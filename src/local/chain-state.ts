import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf, OracleError } from '../errors.ts';
import { connectNode, type NodeSocket } from './rpc/node-socket.ts';

export interface StateSaver {
  /** Saves a last time. Throws what went wrong. */
  close(): Promise<void>;
}

const unzip = promisify(gunzip);
const LEAST_PAUSE_MS = 500;
/** Saving blocks the chain: it gets a twentieth of the time at most. */
const PAUSE_PER_SAVING = 20;

export function stateFile(stateDir: string): string {
  return join(stateDir, 'state.json');
}

/**
 * Keeps a chain's state on disk, blocks, transactions and receipts included: soon after each new block, and on `close`.
 * The file is replaced by renaming a complete, flushed one.
 */
export function keepState(ipcPath: string, stateDir: string): StateSaver {
  const node = connectNode({ path: ipcPath });
  let savedBlock = '';
  let running = Promise.resolve();
  let timer = schedule(LEAST_PAUSE_MS);
  let closed = false;

  function schedule(pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      running = saveIfChanged();
    }, pauseMs);
  }

  async function saveIfChanged(): Promise<void> {
    const started = performance.now();
    try {
      const block = await ask(node, 'eth_blockNumber');
      if (block !== savedBlock) await save(node, stateDir);
      savedBlock = block;
    } catch (error) {
      console.error(`the chain state was not saved: ${messageOf(error)}`);
    }
    if (!closed) timer = schedule(Math.max(LEAST_PAUSE_MS, PAUSE_PER_SAVING * (performance.now() - started)));
  }

  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
      await save(node, stateDir).finally(() => node.close());
    },
  };
}

async function ask(node: NodeSocket, method: string): Promise<string> {
  const { result, error } = await node.call(method);
  if (error) throw new OracleError('CHAIN_REVERTED', `${method} was refused: ${error.message}`);
  return result as string;
}

async function save(node: NodeSocket, stateDir: string): Promise<void> {
  const packed = await ask(node, 'anvil_dumpState');
  const target = stateFile(stateDir);
  const file = await open(`${target}.tmp`, 'w');
  try {
    await file.writeFile(await unzip(Buffer.from(packed.slice(2), 'hex')));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${target}.tmp`, target);
}
