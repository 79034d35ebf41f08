import { requireNode } from './require-node.mjs';

requireNode();
const { runPipelineCommand } = await import('../src/cli/pipeline.ts');
await runPipelineCommand(process.argv.slice(2));
