import { constants, type FileHandle, open, readFile } from 'node:fs/promises';
import { replaceFile } from '../../../platform/data-dir/json-file.ts';
import { getErrorMessage } from '../../../platform/errors.ts';

export type WriteMethod =
  | 'eth_sendRawTransaction'
  | 'eth_sendTransaction'
  | 'evm_mine'
  | 'anvil_impersonateAccount'
  | 'anvil_setBalance'
  | 'anvil_setCode';

/** A request that changes the chain, as the node receives it. */
export interface ChainWrite {
  method: WriteMethod;
  params: unknown[];
  /** Number of the last block before it. */
  height: number;
  /** Unix seconds of its block; absent for writes without one. */
  blockTime?: number;
}

/** Append-only file of the writes since the last saved state. Calls must not overlap. */
export interface WriteLog {
  /** @throws errors of the file system, after which the log is as before; also while earlier writes cannot be made durable */
  append(write: ChainWrite): Promise<void>;
  /** Removes the writes that a saved state of this height contains. */
  prune(height: number): Promise<void>;
  countWrites(): number;
  /** Oldest first. */
  readWrites(): Promise<ChainWrite[]>;
  close(): Promise<void>;
}

interface ReadLog {
  writes: ChainWrite[];
  /** Length in bytes up to the last complete line. */
  end: number;
}

const NEWLINE = 10;
/** A power failure loses the writes of this time at most; a killed process loses none. */
const SYNC_AFTER_MS = 100;

/** A line that a killed process left incomplete was never sent, and is overwritten. */
export async function openWriteLog(path: string): Promise<WriteLog> {
  let file = await openFile(path);
  const known = await readWriteLog(path);
  let { end } = known;
  let count = known.writes.length;
  let syncTimer: NodeJS.Timeout | undefined;
  let syncFailed = false;
  const stopSync = () => {
    clearTimeout(syncTimer);
    syncTimer = undefined;
  };
  const sync = async (synced: FileHandle) => {
    try {
      await synced.datasync();
    } catch (error) {
      // Of a file that has been replaced or closed since, nothing is lost.
      if (synced !== file) return;
      syncFailed = true;
      console.error(`the writes of the local chain are not on disk yet: ${getErrorMessage(error)}`);
    }
  };
  const syncSoon = () => {
    syncTimer ??= setTimeout(() => {
      syncTimer = undefined;
      void sync(file);
    }, SYNC_AFTER_MS);
  };
  async function replaceWrites(writes: readonly ChainWrite[]): Promise<void> {
    stopSync();
    const kept = writes.map(formatLine);
    await replaceFile(path, Buffer.concat(kept), { temporary: `${path}.tmp` });
    const replaced = file;
    file = await openFile(path);
    end = kept.reduce((bytes, line) => bytes + line.length, 0);
    count = kept.length;
    syncFailed = false;
    await replaced.close();
  }
  return {
    async append(write) {
      // After a failed sync the kernel may have dropped what it could not write: a later sync of the same file proves nothing.
      if (syncFailed) await replaceWrites((await readWriteLog(path)).writes);
      const line = formatLine(write);
      try {
        await writeFully(file, line, end);
      } catch (error) {
        // What a full disk took is overwritten by the next line in any case.
        await file.truncate(end).catch(() => {});
        throw error;
      }
      end += line.length;
      count += 1;
      syncSoon();
    },
    async prune(height) {
      const { writes } = await readWriteLog(path);
      await replaceWrites(writes.filter((write) => write.height >= height));
    },
    countWrites: () => count,
    readWrites: async () => (await readWriteLog(path)).writes,
    async close() {
      const isUnsynced = syncTimer !== undefined;
      stopSync();
      if (isUnsynced) await sync(file);
      await file.close();
    },
  };
}

/** Oldest first; none if there is no file. */
export async function readWriteLog(path: string): Promise<ReadLog> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  const writes: ChainWrite[] = [];
  let end = 0;
  for (let newline = bytes.indexOf(NEWLINE); newline !== -1; newline = bytes.indexOf(NEWLINE, end)) {
    const write = parseLine(bytes.toString('utf8', end, newline));
    if (write === null) break;
    writes.push(write);
    end = newline + 1;
  }
  return { writes, end };
}

function openFile(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
}

function formatLine(write: ChainWrite): Buffer {
  return Buffer.from(`${JSON.stringify(write)}\n`);
}

function parseLine(text: string): ChainWrite | null {
  try {
    return JSON.parse(text) as ChainWrite;
  } catch {
    return null;
  }
}

/** The file system may take a part of the bytes before it reports that it is full. */
async function writeFully(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
