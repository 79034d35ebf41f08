import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';

requireNode();
printHelpIfAsked('Usage: npm run build:page\n\nBundles the page into dist/page, and the MCP App into dist/mcp-app.');
const { main } = await import('../../src/tools/page.ts');
await main(process.argv.slice(2));
