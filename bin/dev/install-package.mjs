import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/** Installs a package of this repository from its lock file, unless its installation is newer than that file. */
export function ensureInstalled(folder) {
  const cwd = join(ROOT, folder);
  const installed = join(cwd, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(cwd, 'package-lock.json')).mtimeMs) return;
  console.error(`installing the packages of ${folder} ...`);
  execFileSync('npm', ['ci', ...FLAGS], { cwd, env: process.env, stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1] && resolve(process.argv[1]) === import.meta.filename)
  for (const folder of process.argv.slice(2)) ensureInstalled(folder);
