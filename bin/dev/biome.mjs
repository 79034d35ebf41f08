import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { ensureInstalled } from './install-package.mjs';

// Biome is a package of its own: its binary weighs a fifth of everything else.
ensureInstalled('bin/dev/biome');
const biome = resolve(import.meta.dirname, 'biome/node_modules/.bin/biome');
const { status } = spawnSync(biome, process.argv.slice(2), { env: process.env, stdio: 'inherit' });
process.exitCode = status ?? 1;
