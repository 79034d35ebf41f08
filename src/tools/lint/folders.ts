import { dirname } from 'node:path';
import type { Finding } from './house-words.ts';

const MAX_FILES = 12;

/** Folders with more than `MAX_FILES` files directly in them. */
export function findLargeFolders(files: readonly string[]): Finding[] {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_FILES)
    .map(([file, count]) => ({
      file,
      line: 1,
      message: `${count} files: give it sub-folders by topic, ${MAX_FILES} files at most in each`,
    }));
}
