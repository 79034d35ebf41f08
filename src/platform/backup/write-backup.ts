import { access, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { replaceFile } from '../data-dir/json-file.ts';
import { OracleError } from '../errors.ts';
import type { Database } from '../mongo.ts';
import { isSnapshotLost, openDatabaseReader, openOrderedReader } from './database-reader.ts';
import { ChangedDuringCopyError, type DumpOptions, dumpDatabase } from './dump-database.ts';
import { encryptChunks } from './format/stream-cipher.ts';
import { type BackupContents, readBackup } from './read-backup.ts';

export interface WriteBackupOptions extends Omit<DumpOptions, 'reader'> {
  database: Pick<Database, 'db' | 'client'>;
  /** 32 bytes. */
  key: Buffer;
  path: string;
  signal?: AbortSignal;
}

export interface WrittenBackup extends BackupContents {
  path: string;
  /** Of the file. */
  fileBytes: number;
}

const MAX_ATTEMPTS = 20;
const PAUSE_MS = 1_000;

/** Writes to a temporary file, reads it back, and gives it its name only then. @throws OracleError CONFLICT, STEP_WAITING; file system errors */
export async function writeBackup(options: WriteBackupOptions): Promise<WrittenBackup> {
  const { path, signal } = options;
  await requireNewFile(path);
  let isSnapshot = true;
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeOnce(options, isSnapshot);
    } catch (error) {
      if (isSnapshotLost(error) && isSnapshot) isSnapshot = false;
      else if (!(error instanceof ChangedDuringCopyError)) throw error;
      else if (attempt === MAX_ATTEMPTS) throw recordChangingError(error);
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}

async function writeOnce({ database, key, path, signal, ...dump }: WriteBackupOptions, isSnapshot: boolean): Promise<WrittenBackup> {
  const reader = isSnapshot ? await openDatabaseReader(database) : openOrderedReader(database);
  let contents: BackupContents | undefined;
  try {
    const check = async (temporary: string) => {
      contents = await readBackup(temporary, key);
    };
    await replaceFile(path, encryptChunks(key, compress(untilAborted(dumpDatabase({ ...dump, reader }), signal))), { check });
  } finally {
    await reader.close();
  }
  return { ...contents!, path, fileBytes: (await stat(path)).size };
}

async function* untilAborted(frames: AsyncIterable<Buffer>, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  for await (const frame of frames) {
    signal?.throwIfAborted();
    yield frame;
  }
}

async function* compress(plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gzip = createGzip();
  // Its error destroys the stream, whose reader gets it.
  const pumping = pipeline(Readable.from(plain), gzip).catch(() => undefined);
  try {
    yield* gzip;
  } finally {
    gzip.destroy();
    await pumping;
  }
}

async function requireNewFile(path: string): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists) throw new OracleError('CONFLICT', `${path} exists: a backup replaces no file`, { field: 'out' });
}

function recordChangingError(cause: unknown): OracleError {
  const message = `The record has changed during each of ${MAX_ATTEMPTS} copies`;
  return new OracleError('STEP_WAITING', message, { suggestedAction: 'Repeat it once the steps of the day are done.', cause });
}
