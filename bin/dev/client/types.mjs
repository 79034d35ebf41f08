import { printHelpIfAsked } from '../../lib/help.mjs';
import { requireNode } from '../../require-node.mjs';
import { ensureInstalled } from '../install-package.mjs';

requireNode();
printHelpIfAsked(
  'Usage: node bin/dev/client/types.mjs\n\nGenerates the types of clients/typescript from the routes, as npm run typecheck and npm run build:client do.',
);
ensureInstalled('bin/dev/openapi-typescript');
const { generateTypes } = await import('../../../src/tools/client.ts');
generateTypes();
