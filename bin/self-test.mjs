import { requireNode } from './require-node.mjs';

requireNode();
const { runSelfTestCommand } = await import('../src/cli/self-test.ts');
await runSelfTestCommand(process.argv.slice(2));
