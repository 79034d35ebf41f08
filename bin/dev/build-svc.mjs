import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';

requireNode();
printHelpIfAsked(
  'Usage: npm run build:svc -- [folder]\n\nBuilds the command line and the audit as a package of its own, in dist/ unless a folder is named.',
);

// The command line and the audit as a package of its own, in plain JavaScript: Node strips no types below node_modules.
const root = resolve(import.meta.dirname, '../..');
const out = resolve(process.argv[2] ?? join(root, 'dist/bitcoin-signal-oracle-svc'));
const MIN_NODE = 22;
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const installed = (name) => JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, 'tsconfig.package.json'), '--outDir', join(out, 'lib')], {
  stdio: 'inherit',
  env: { PATH: process.env.PATH },
});

/** Packages that the compiled code imports. */
function importedPackages() {
  const names = new Set();
  for (const file of globSync(join(out, 'lib/**/*.js'))) {
    const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'";]*\bfrom\s+'([^']+)'|^import\s+'([^']+)'/gm);
    for (const [, from, alone] of imports) {
      const [name] = /^(?:@[\w.-]+\/)?[\w.-]+/.exec(from ?? alone) ?? [''];
      if (/^[@a-z]/.test(name) && !(from ?? alone).startsWith('node:')) names.add(name);
    }
  }
  return [...names].sort();
}

/** Where documents of the project are in the package. */
const PACKAGED = { 'CLI.md': 'README.md', 'AUDIT.md': 'AUDIT.md' };

/** A document as it stands in the package: what does not come along is named instead of linked. */
function packaged(name) {
  const text = readFileSync(join(root, 'docs', name), 'utf8');
  return text.replace(/\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g, (_, words, path, anchor = '') => {
    if (path in PACKAGED) return `[${words === path ? PACKAGED[path] : words}](${PACKAGED[path]}${anchor})`;
    return words === path ? `\`docs/${path}\` of the service` : `${words} (\`docs/${path}\` of the service)`;
  });
}

/** Subpaths that programs import, and the module of each. */
const ENTRIES = {
  audit: 'audit',
  chain: 'command/open-chain',
  claims: 'command/open-audit',
  'csv-prices': 'prices/csv-prices',
  'live-prices': 'prices/live-prices',
  'report-text': 'report/report-text',
};
const entry = (module) => ({ types: `./lib/src/audit/${module}.d.ts`, default: `./lib/src/audit/${module}.js` });
const manifest = {
  name: 'bitcoin-signal-oracle-svc',
  version,
  description: 'Asks a Bitcoin Signal Oracle, pays it, and checks on chain what it says: one forecast, or the whole record',
  license,
  type: 'module',
  engines: { node: `>=${MIN_NODE}` },
  bin: { svc: 'bin.mjs' },
  exports: Object.fromEntries(Object.entries(ENTRIES).map(([name, module]) => [`./${name}`, entry(module)])),
  files: ['bin.mjs', 'lib', 'AUDIT.md'],
  // Exactly what it was tested with.
  dependencies: Object.fromEntries(importedPackages().map((name) => [name, installed(name)])),
};
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(
  join(out, 'bin.mjs'),
  `#!/usr/bin/env node
// An older Node fails in the middle, with the code that says that something differs.
if (Number(process.versions.node.split('.')[0]) < ${MIN_NODE}) {
  console.error(\`svc needs Node ${MIN_NODE} or later; this is \${process.versions.node}\`);
  process.exitCode = 2;
} else {
  const { runOnTerminal } = await import('./lib/src/cli/svc/terminal.js');
  await runOnTerminal(process.argv.slice(2), { environment: process.env, version: '${version}' });
}
`,
  { mode: 0o755 },
);
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
writeFileSync(join(out, 'AUDIT.md'), packaged('AUDIT.md'));
writeFileSync(join(out, 'README.md'), packaged('CLI.md'));
console.log(`Built ${manifest.name} ${version} in ${out}`);
