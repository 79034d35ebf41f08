// Writes the model card, docs/MODEL.md, from the code and its self-tests.
import { requireNode } from '../require-node.mjs';

requireNode();
const { writeModelDocument } = await import('../../src/tools/model-document/document.ts');
await writeModelDocument(process.argv.slice(2));
