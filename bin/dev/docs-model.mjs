// Writes the model card, docs/MODEL.md, from the code and what its self-tests find.
import { requireNode } from '../require-node.mjs';

requireNode();
const { writeModelDocument } = await import('../../src/tools/model-document/command.ts');
await writeModelDocument(process.argv.slice(2));
