import { execFileSync } from 'node:child_process';
import { printHelpIfAsked } from '../../lib/help.mjs';
import { requireNode } from '../../require-node.mjs';
import { ensureInstalled } from '../install-package.mjs';

requireNode();
printHelpIfAsked(
  'Usage: npm run build:client -- [folder]\n\nBuilds clients/typescript as an npm package with its tarball, in dist/ unless a folder is named.',
);
ensureInstalled('bin/dev/openapi-typescript');
const { buildClient } = await import('../../../src/tools/client.ts');
const { folder, name, version } = buildClient(process.argv[2]);
const stdio = ['ignore', 'inherit', 'inherit'];
execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: folder, env: process.env, stdio });
console.log(`Built ${name} ${version} in ${folder}`);
