import { requireNode } from '../require-node.mjs';

requireNode();
const { main } = await import('../../examples/demo-agent/main.ts');
await main(process.argv.slice(2));
