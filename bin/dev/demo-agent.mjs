import { requireNode } from '../require-node.mjs';
import { ensureInstalled } from './install-package.mjs';

requireNode();
const { main } = await import('../../examples/demo-agent/main.ts');
await main(process.argv.slice(2), () => ensureInstalled('examples/clients'));
