import { requireNode } from './require-node.mjs';

requireNode();
const { runReconcileCommand } = await import('../src/cli/commands/reconcile.ts');
await runReconcileCommand(process.argv.slice(2));
