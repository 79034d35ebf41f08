import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { printHelpIfAsked } from '../lib/help.mjs';

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

if (process.argv[1] && resolve(process.argv[1]) === import.meta.filename) {
  printHelpIfAsked('Usage: node bin/dev/install-package.mjs <folder...>\n\nInstalls packages of this repository from their lock files.');
  for (const folder of process.argv.slice(2)) ensureInstalled(folder);
}
