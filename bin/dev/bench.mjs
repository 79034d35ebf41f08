import { requireNode } from '../require-node.mjs';

requireNode();
const { main } = await import('../../bench/run.ts');
await main(process.argv.slice(2));
