import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonFileOrNull, replaceFile } from '../../platform/data-dir/json-file.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import { dumpState } from './state-dump.ts';
import type { ChainWriter } from './writes/chain-writer.ts';
import type { WriteLog } from './writes/write-log.ts';

export interface SavedChain {
  ipcPath: string;
  stateDir: string;
  writer: ChainWriter;
  log: WriteLog;
}

export interface StateSaver {
  /** Saves a last time. */
  close(): Promise<void>;
}

const CHECK_EVERY_MS = 5_000;
/** A start repeats the writes since the last save, some hundreds per second. A save takes memory and blocks the chain. */
const MAX_UNSAVED_WRITES = 1_000;
/** Of the time, a save takes at most a twentieth. */
const PAUSE_FACTOR = 20;

export function getStateFile(stateDir: string): string {
  return join(stateDir, 'state.json');
}

/** Of the writes since the last save. */
export function getLogFile(stateDir: string): string {
  return join(stateDir, 'writes.jsonl');
}

function getGenesisFile(stateDir: string): string {
  return join(stateDir, 'genesis.json');
}

export function discardState(stateDir: string): void {
  for (const path of [getLogFile(stateDir), getStateFile(stateDir), getGenesisFile(stateDir)]) rmSync(path, { force: true });
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

/** Saves a chain's state, with blocks, transactions and receipts, when its log has become long, and on `close`. */
export function startStateSaver({ ipcPath, stateDir, writer, log }: SavedChain): StateSaver {
  let running = Promise.resolve();
  let timer = schedule(CHECK_EVERY_MS);
  let closed = false;

  function schedule(pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      running = saveWhenLong();
    }, pauseMs);
  }

  async function saveWhenLong(): Promise<void> {
    const started = performance.now();
    if (log.countWrites() >= MAX_UNSAVED_WRITES) await trySave();
    if (!closed) timer = schedule(Math.max(CHECK_EVERY_MS, PAUSE_FACTOR * (performance.now() - started)));
  }

  /** On failure the log still has everything since the save before. */
  async function trySave(): Promise<void> {
    await save().catch((error: unknown) => console.error(`the chain state was not saved: ${getErrorMessage(error)}`));
  }

  async function save(): Promise<void> {
    const path = getStateFile(stateDir);
    const snapshot = Promise.withResolvers<void>();
    let written = Promise.resolve();
    const saved = await writer.pauseToSave(async (height) => {
      // A fixed temporary name: a killed host leaves one file at most.
      written = dumpState(ipcPath, (state) => replaceFile(path, state, { temporary: `${path}.tmp` }), snapshot.resolve);
      written.catch(snapshot.reject);
      await snapshot.promise;
      return height;
    });
    await written;
    await writer.pause(() => log.prune(saved));
  }

  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
      if (log.countWrites() > 0 || !existsSync(getStateFile(stateDir))) await trySave();
    },
  };
}
