import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Absolute paths of declaration files, and of all that they refer to by a relative path. */
export function listDeclarations(entries: readonly string[]): Set<string> {
  const found = new Set<string>();
  const queue = entries.map((path) => resolve(path));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const references = readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)['"]/g);
    for (const [, path] of references) queue.push(resolve(dirname(file), path!.replace(/\.(?:js|ts)$/, '.d.ts')));
  }
  return found;
}
