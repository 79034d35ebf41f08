import { requireNode } from './require-node.mjs';

requireNode();
const { runPipelineCommand } = await import('../src/cli/commands/pipeline.ts');
await runPipelineCommand(process.argv.slice(2));
