// Writes the model card, docs/MODEL.md, from the code and what its self-tests find.
import { requireNode } from './require-node.mjs';

requireNode();
const { main } = await import('../src/local/model-document/command.ts');
await main(process.argv.slice(2));
