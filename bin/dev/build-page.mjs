import { requireNode } from '../require-node.mjs';

requireNode();
const { main } = await import('../../src/tools/page/main.ts');
await main(process.argv.slice(2));
