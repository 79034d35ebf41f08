import { readdirSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { printHelpIfAsked } from '../lib/help.mjs';

printHelpIfAsked('Usage: node bin/dev/trim-install.mjs\n\nRemoves from node_modules what no program loads; npm ci runs it.');

// Removes from node_modules what no program loads: source maps, test data of a package, and the C headers and second name of the Node binary.
const MODULES = resolve(import.meta.dirname, '../../node_modules');

for (const entry of readdirSync(MODULES, { recursive: true, withFileTypes: true })) {
  if (entry.isFile() && /\.(?:[cm]?js|css|ts)\.map$/.test(entry.name)) unlinkSync(join(entry.parentPath, entry.name));
}

rmSync(join(MODULES, 'bintrees/test'), { recursive: true, force: true });

const node = join(MODULES, 'node');
const isInstalled = statSync(join(node, 'bin/node'), { throwIfNoEntry: false })?.isFile() ?? false;
if (isInstalled) rmSync(join(node, 'node_modules'), { recursive: true, force: true });
