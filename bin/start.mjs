import { requireNode } from './require-node.mjs';

requireNode();
const { main } = await import('../src/start.ts');
await main();
