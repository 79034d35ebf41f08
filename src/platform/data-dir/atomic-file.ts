import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a JSON file that after a crash or a power cut has either its old content or all of the new. */
export async function writeJsonFile(path: string, value: unknown, mode = 0o600): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeSynced(temporary, `${JSON.stringify(value, null, 2)}\n`, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  // The rename itself is durable once the folder is.
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}

async function writeSynced(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
