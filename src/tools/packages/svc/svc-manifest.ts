import { PUBLICATION } from '../../../../agent-card/identity.ts';

export const SVC_MIN_NODE = 22;

/** Subpaths that programs import, and the modules below `src/` that each has: the first, or all of several. */
export const SVC_ENTRIES: Readonly<Record<string, string | readonly string[]>> = {
  audit: 'audit/audit',
  chain: 'audit/command/open-chain',
  claims: 'audit/command/open-audit',
  'csv-prices': 'audit/prices/csv-prices',
  'live-prices': 'audit/prices/live-prices',
  'report-text': 'audit/report/report-text',
  verify: [
    ...['verify/check-forecast-evidence', 'verify/check-record', 'verify/check-distribution-record', 'verify/catalogue', 'verify/summary'],
    ...['verify/evidence', 'verify/findings', 'verify/attestation-uid', 'verify/encode-cid'],
    ...[
      'chain/eas/raw-attestation',
      'chain/eas/attestation-schemas',
      'chain/eas/commitment',
      'chain/eas/distribution-digest',
      'forecast/day',
    ],
  ],
};

/** `package.json` of the package for npm. @param dependencies Exact versions by name. */
export function buildSvcManifest(source: { version: string; license: string; dependencies: Record<string, string> }) {
  const { version, license, dependencies } = source;
  return {
    name: PUBLICATION.npmName,
    version,
    description: 'Asks a Bitcoin Signal Oracle, pays it, serves it to assistants over MCP, and checks on chain what it says',
    // The MCP registry accepts a package only if it names its entry.
    mcpName: PUBLICATION.mcpName,
    license,
    type: 'module',
    engines: { node: `>=${SVC_MIN_NODE}` },
    bin: { svc: 'svc.mjs', 'bitcoin-signal-oracle-mcp': 'mcp.mjs' },
    exports: Object.fromEntries(Object.entries(SVC_ENTRIES).map(([name, modules]) => [`./${name}`, getEntry(name, modules)])),
    files: ['*.mjs', '*.d.mts', 'lib', 'AUDIT.md'],
    dependencies,
  };
}

function getEntry(name: string, modules: string | readonly string[]) {
  if (typeof modules !== 'string') return { types: `./${name}.d.mts`, default: `./${name}.mjs` };
  return { types: `./lib/src/${modules}.d.ts`, default: `./lib/src/${modules}.js` };
}

/** Files at the top of the package, by name: both programs, and entries of several modules. */
export function buildSvcFiles(version: string): Record<string, string> {
  const joined = Object.entries(SVC_ENTRIES).flatMap(([name, modules]) => {
    if (typeof modules === 'string') return [];
    const text = modules.map((module) => `export * from './lib/src/${module}.js';\n`).join('');
    return [
      [`${name}.mjs`, text],
      [`${name}.d.mts`, text],
    ];
  });
  return {
    'svc.mjs': renderProgram('svc', [], version),
    'mcp.mjs': renderProgram('bitcoin-signal-oracle-mcp', ['mcp'], version),
    ...Object.fromEntries(joined),
  };
}

function renderProgram(name: string, words: readonly string[], version: string): string {
  return `#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

// Maglev, a compiler of V8, now and then gives a field of one object the number of another's.
setFlagsFromString('--no-maglev');
// An older Node fails in the middle, with the code that says that something differs.
if (Number(process.versions.node.split('.')[0]) < ${SVC_MIN_NODE}) {
  console.error(\`${name} needs Node ${SVC_MIN_NODE} or later; this is \${process.versions.node}\`);
  process.exitCode = 2;
} else {
  const { runOnTerminal } = await import('./lib/src/cli/svc/terminal.js');
  await runOnTerminal([${words.map((word) => `'${word}', `).join('')}...process.argv.slice(2)], { environment: process.env, version: '${version}' });
}
`;
}
