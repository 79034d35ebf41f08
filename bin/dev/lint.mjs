import { requireNode } from '../require-node.mjs';

requireNode();
const { main } = await import('../../src/tools/lint/main.ts');
main(process.argv.slice(2));
