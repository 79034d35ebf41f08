import { requireNode } from './require-node.mjs';

requireNode();
const { main } = await import('../src/main.ts');
await main();
