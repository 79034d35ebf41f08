import { requireNode } from './require-node.mjs';

requireNode();
const { runAuditCommand } = await import('../src/cli/audit.ts');
await runAuditCommand(process.argv.slice(2));
