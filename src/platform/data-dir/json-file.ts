import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** As `mkdir -p`. Node's own never returns where an existing folder answers ENOENT to every new name, as `/proc` does. */
export async function makeFolder(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (await isFolder(path)) return;
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw error;
    await makeFolder(parent, mode);
    await makeFolder(path, mode);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

export async function writeJsonFile(path: string, value: unknown, mode?: number): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, { mode });
}

/** Null if the file is missing or not valid JSON. */
export async function readJsonFileOrNull(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

type FileContent = string | Buffer | AsyncIterable<Buffer>;

interface ReplaceOptions {
  /** Default: 0o600. */
  mode?: number;
  /** Default: a unique name beside the file. */
  temporary?: string;
  /** Of the synced temporary file, before it gets its name; throws to reject it. */
  check?(temporary: string): Promise<void>;
}

/** Replaces a file atomically: after a crash or power failure it has either its old or its whole new content. */
export async function replaceFile(path: string, content: FileContent, options: ReplaceOptions = {}): Promise<void> {
  const { mode = 0o600, temporary = `${path}.${randomUUID()}.tmp`, check } = options;
  try {
    await writeSynced(temporary, content, mode);
    await check?.(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  // The rename is durable once the folder is synced.
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}

async function writeSynced(path: string, content: FileContent, mode: number): Promise<void> {
  const file = await open(path, 'w', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
