import { resolve } from 'node:path';
import { printHelpIfAsked } from '../../lib/help.mjs';
import { requireNode } from '../../require-node.mjs';

requireNode();
printHelpIfAsked(`Usage: npm run release -- [--dry-run | --notes]

Prepares the next release: its version follows from the conventional commits since the last tag, the unreleased part of CHANGELOG.md gets
version and date, and the files that state the version are updated. Commits, tags and publishes nothing.

  --dry-run  prints what it would do
  --notes    prints the changes of the version in package.json`);
const { main } = await import('../../../src/tools/release/main.ts');
main(process.argv.slice(2), resolve(import.meta.dirname, '../../..'));
