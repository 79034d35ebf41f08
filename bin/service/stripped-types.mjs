import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Written by `npm ci`, `npm run build:types`: the sources as JavaScript, each under the hash of its TypeScript. */
export const STRIPPED = resolve(import.meta.dirname, '../../dist/stripped');

export const strippedName = (source) => `${hash('sha1', source)}.js`;

/**
 * Loads sources whose types have been stripped already, and leaves those that have changed since to Node. Node's own stripper stays in
 * memory once it has run, and so does Node's compile cache: 20 and 10 MB.
 */
export function useStrippedTypes() {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
      try {
        const source = readFileSync(join(STRIPPED, strippedName(readFileSync(fileURLToPath(url)))), 'utf8');
        return { format: 'module', source, shortCircuit: true };
      } catch {
        return nextLoad(url, context);
      }
    },
  });
}
