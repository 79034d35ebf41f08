import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { printHelpIfAsked } from '../../lib/help.mjs';
import { requireNode } from '../../require-node.mjs';
import { ensureInstalled } from '../install-package.mjs';

requireNode();
printHelpIfAsked(`Usage: npm run build:mcpb -- [folder]

Builds the stdio MCP server as an MCP bundle, which assistants on a desktop install by a click: contents in a folder, in dist/ unless one is
named, and the .mcpb file beside it. Validator and packer are installed on first use.`);
const { buildMcpb } = await import('../../../src/tools/packages.ts');

const root = resolve(import.meta.dirname, '../../..');
const folder = resolve(process.argv[2] ?? join(root, 'dist/bitcoin-signal-oracle-mcpb'));
await buildMcpb(folder);
const { name, version } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
const file = join(dirname(folder), `${name}-${version}.mcpb`);
ensureInstalled('bin/dev/packages/mcpb');
const mcpb = (...words) =>
  execFileSync(join(import.meta.dirname, 'mcpb/node_modules/.bin/mcpb'), words, {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
mcpb('validate', join(folder, 'manifest.json'));
mcpb('pack', folder, file);
console.log(`Packed ${file}: ${Math.ceil(statSync(file).size / 1_000)} kB`);
