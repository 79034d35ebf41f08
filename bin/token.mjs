import { requireNode } from './require-node.mjs';

requireNode();
const { runTokenCommand } = await import('../src/cli/token.ts');
await runTokenCommand(process.argv.slice(2));
