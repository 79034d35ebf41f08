import { requireNode } from './require-node.mjs';

requireNode();
const { runFeedsCommand } = await import('../src/cli/feeds.ts');
await runFeedsCommand(process.argv.slice(2));
