import { requireNode } from './require-node.mjs';

requireNode();
const { main } = await import('../src/audit-command.ts');
await main(process.argv.slice(2));
