import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';

requireNode();
printHelpIfAsked(
  'Usage: npm run build:service\n\nBundles the service into dist/service, from where it starts faster and with less memory.',
);
const { main } = await import('../../src/tools/service.ts');
await main(process.argv.slice(2));
