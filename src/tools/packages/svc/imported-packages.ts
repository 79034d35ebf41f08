import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const IMPORT = /^(?:import|export)\b[^'";]*\bfrom\s+'([^']+)'|^import\s+'([^']+)'/gm;

/** Packages that compiled modules import, sorted. */
export function findImportedPackages(folder: string): string[] {
  const names = new Set<string>();
  for (const file of globSync(join(folder, '**/*.js'))) {
    for (const [, from, alone] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const [name] = /^(?:@[\w.-]+\/)?[\w.-]+/.exec(from ?? alone) ?? [''];
      if (/^[@a-z]/.test(name) && !(from ?? alone).startsWith('node:')) names.add(name);
    }
  }
  return [...names].sort();
}

interface LockEntry {
  version?: string;
  dependencies?: Record<string, string>;
}

/** What npm installs for packages: themselves and what they depend on, as `name@version`. @param lock `packages` of a lock file */
export function listInstalledPackages(names: readonly string[], lock: Readonly<Record<string, LockEntry>>): Set<string> {
  const found = new Set<string>();
  const visit = (name: string, from: string) => {
    const path = resolveEntry(name, from, lock);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    for (const dependency of Object.keys(lock[path].dependencies ?? {})) visit(dependency, path);
  };
  for (const name of names) visit(name, '');
  return new Set([...found].map((path) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${lock[path].version}`));
}

/** As Node looks for it: in the folder itself, then in those around it. */
function resolveEntry(name: string, from: string, lock: Readonly<Record<string, LockEntry>>): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (path in lock) return path;
    if (folder === '') return undefined;
  }
}
