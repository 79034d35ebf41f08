import { requireNode } from './require-node.mjs';

requireNode();
const { runService } = await import('../src/main.ts');
await runService();
