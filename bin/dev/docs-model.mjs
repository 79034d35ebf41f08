// Writes the model card, docs/MODEL.md, from the code and its self-tests.
import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';

requireNode();
printHelpIfAsked(
  'Usage: npm run docs:model -- [--data <folder>]\n\nWrites docs/MODEL.md from the code and its self-tests; with a folder of CSV files also the part on recorded history.',
);
const { writeModelDocument } = await import('../../src/tools/model-document.ts');
await writeModelDocument(process.argv.slice(2));
