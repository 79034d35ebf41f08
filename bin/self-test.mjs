import { requireNode } from './require-node.mjs';

requireNode();
const { main } = await import('../src/self-test-command.ts');
await main(process.argv.slice(2));
