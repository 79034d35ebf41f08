import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';

requireNode();
printHelpIfAsked('Usage: npm run lint\n\nChecks the import law.');
const { main } = await import('../../src/tools/lint.ts');
main(process.argv.slice(2));
