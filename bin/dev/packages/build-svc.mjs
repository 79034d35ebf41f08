import { join, resolve } from 'node:path';
import { printHelpIfAsked } from '../../lib/help.mjs';
import { requireNode } from '../../require-node.mjs';

requireNode();
printHelpIfAsked(`Usage: npm run build:svc -- [--pack] [folder]

Builds command line, stdio MCP server, audit and checks as a package of their own, in dist/ unless a folder is named.

  --pack  also packs it for npm, into the folder beside it`);
const { buildSvc, packSvc } = await import('../../../src/tools/packages.ts');

const words = process.argv.slice(2);
const [named = join(import.meta.dirname, '../../..', 'dist/bitcoin-signal-oracle-svc')] = words.filter((word) => word !== '--pack');
const { folder, name, version, dependencies } = buildSvc(resolve(named));
console.log(`Built ${name} ${version} in ${folder}: ${dependencies.direct} dependencies, ${dependencies.all} packages with theirs`);
if (words.includes('--pack')) {
  const { path, bytes, unpackedBytes } = packSvc(folder);
  console.log(`Packed ${path}: ${Math.ceil(bytes / 1_000)} kB, ${Math.ceil(unpackedBytes / 1_000)} kB unpacked`);
}
