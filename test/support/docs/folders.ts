import { rm } from 'node:fs/promises';

/** Removes a folder that killed processes had open: their hosts may still be writing their last files while it is emptied. */
export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 });
}
