import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// The audit as a package of its own, in plain JavaScript: Node strips no types below node_modules.
const root = resolve(import.meta.dirname, '..');
const out = resolve(process.argv[2] ?? join(root, 'dist/bitcoin-signal-oracle-audit'));
const LEAST_NODE = 22;
const { version, license, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const installed = (name) => JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, 'tsconfig.audit.json'), '--outDir', join(out, 'lib')], {
  stdio: 'inherit',
});

const entry = (name) => ({ types: `./lib/audit/${name}.d.ts`, default: `./lib/audit/${name}.js` });
const manifest = {
  name: 'bitcoin-signal-oracle-audit',
  version,
  description: 'Recomputes the record of a Bitcoin Signal Oracle from its attestations on chain and from independent prices',
  license,
  type: 'module',
  engines: { node: `>=${LEAST_NODE}` },
  bin: { 'bitcoin-signal-oracle-audit': 'bin.mjs' },
  exports: {
    '.': entry('audit'),
    './chain': entry('chain'),
    './claims': entry('claims'),
    './csv-prices': entry('csv-prices'),
    './live-prices': entry('live-prices'),
    './report-text': entry('report-text'),
  },
  files: ['bin.mjs', 'lib'],
  // Exactly what it was tested with.
  dependencies: Object.fromEntries(['viem', 'zod'].filter((name) => name in dependencies).map((name) => [name, installed(name)])),
};
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(
  join(out, 'bin.mjs'),
  `#!/usr/bin/env node
// An older Node fails in the middle, with the code that says that something differs.
if (Number(process.versions.node.split('.')[0]) < ${LEAST_NODE}) {
  console.error(\`The audit needs Node ${LEAST_NODE} or later; this is \${process.versions.node}\`);
  process.exitCode = 2;
} else {
  const { main } = await import('./lib/audit/main.js');
  await main(process.argv.slice(2));
}
`,
  { mode: 0o755 },
);
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
copyFileSync(join(root, 'docs/AUDIT.md'), join(out, 'README.md'));
console.log(`Built ${manifest.name} ${version} in ${out}`);
