import { requireNode } from './require-node.mjs';

requireNode();
const { runReconcileCommand } = await import('../src/cli/reconcile.ts');
await runReconcileCommand(process.argv.slice(2));
