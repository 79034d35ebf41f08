import { dirname } from 'node:path';
import type { Finding } from './house-words.ts';

const MAX_FILES = 12;

export function findLargeFolders(files: readonly string[]): Finding[] {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  const message = `files: give it sub-folders by topic, ${MAX_FILES} files at most in each`;
  const large = [...counts].filter(([, count]) => count > MAX_FILES);
  return large.map(([file, count]) => ({ file, line: 1, message: `${count} ${message}` }));
}
