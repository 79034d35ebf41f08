import { resolve } from 'node:path';
import { printHelpIfAsked } from './lib/help.mjs';
import { requireNode } from './require-node.mjs';

requireNode();
printHelpIfAsked('Usage: npm run reset\n\nDeletes what the service keeps in DATA_DIR (./data).');
if (process.argv.length > 2) {
  console.error('npm run reset takes no arguments: it deletes what the service keeps in DATA_DIR (./data).');
  process.exit(2);
}
const { resetDataDir } = await import('../src/platform/data-dir.ts');

// Read here and not through the settings table, so that no other setting can stand in the way of a reset.
const folder = resolve(process.env.DATA_DIR || './data');
try {
  const removed = await resetDataDir(folder);
  console.log(removed.length > 0 ? `Removed from ${folder}: ${removed.join(', ')}` : `Nothing to remove in ${folder}`);
} catch (error) {
  console.error([`${error.code}: ${error.message}`, error.suggestedAction].filter(Boolean).join('\n  -> '));
  process.exitCode = 1;
}
