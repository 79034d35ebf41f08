import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PUBLICATION } from '../../agent-card/endpoints.ts';
import { filterChildEnvironment } from '../platform/child-process.ts';

const ROOT = resolve(import.meta.dirname, '../..');

interface BuiltSvc {
  folder: string;
  name: string;
  version: string;
  /** What the package needs, and what npm installs with it. */
  dependencies: { direct: number; all: number };
}

/** Command line, stdio MCP server, audit and checks as a package of plain JavaScript: Node strips no types below node_modules. */
export function buildSvc(folder: string): BuiltSvc {
  const { version, license } = readJson('package.json');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(ROOT, 'bin/dev/packages/tsconfig.json'), '--outDir', join(folder, 'lib')], {
    stdio: 'inherit',
    env: filterChildEnvironment(),
  });
  const names = findImportedPackages(join(folder, 'lib'));
  // Exactly what it was tested with.
  const dependencies = Object.fromEntries(names.map((name) => [name, readJson(`node_modules/${name}/package.json`).version]));
  const manifest = buildSvcManifest({ version, license, dependencies });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  write('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [name, text] of Object.entries(buildSvcFiles(version))) write(name, text);
  for (const [document, name] of Object.entries(PACKAGED_DOCUMENTS)) write(name, renderPackagedDocument(readText(`docs/${document}`)));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  const all = listInstalledPackages(names, readJson('package-lock.json').packages).size;
  return { folder, name: manifest.name, version, dependencies: { direct: names.length, all } };
}

interface PackedSvc {
  /** Path of the tarball, beside the folder. */
  path: string;
  bytes: number;
  unpackedBytes: number;
}

/** The tarball that `npm publish` would send. Takes the place of those of earlier versions. */
export function packSvc(folder: string): PackedSvc {
  const into = dirname(folder);
  for (const name of globSync(`${PUBLICATION.npmName.replace(/^@/, '').replace('/', '-')}-*.tgz`, { cwd: into })) rmSync(join(into, name));
  const words = ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', into, '--loglevel=error'];
  const output = JSON.parse(execFileSync('npm', words, { encoding: 'utf8', env: filterChildEnvironment(), cwd: into }));
  // A list up to npm 11, a record of names from npm 12 on.
  const [{ filename, size, unpackedSize }] = Object.values<{ filename: string; size: number; unpackedSize: number }>(output);
  return { path: join(into, basename(filename)), bytes: size, unpackedBytes: unpackedSize };
}

const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const readJson = (path: string) => JSON.parse(readText(path));

const IMPORT = /^(?:import|export)\b[^'";]*\bfrom\s+'([^']+)'|^import\s+'([^']+)'/gm;

/** Packages that compiled modules import, sorted. */
function findImportedPackages(folder: string): string[] {
  const names = new Set<string>();
  for (const file of globSync(join(folder, '**/*.js'))) {
    for (const [, from, alone] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const [name] = /^(?:@[\w.-]+\/)?[\w.-]+/.exec(from ?? alone) ?? [''];
      if (/^[@a-z]/.test(name) && !(from ?? alone).startsWith('node:')) names.add(name);
    }
  }
  return [...names].sort();
}

interface LockEntry {
  version?: string;
  dependencies?: Record<string, string>;
}

/** What npm installs for packages: themselves and what they depend on, as `name@version`. @param lock `packages` of a lock file */
function listInstalledPackages(names: readonly string[], lock: Readonly<Record<string, LockEntry>>): Set<string> {
  const found = new Set<string>();
  const visit = (name: string, from: string) => {
    const path = resolveEntry(name, from, lock);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    for (const dependency of Object.keys(lock[path].dependencies ?? {})) visit(dependency, path);
  };
  for (const name of names) visit(name, '');
  return new Set([...found].map((path) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${lock[path].version}`));
}

/** As Node looks for it: in the folder itself, then in those around it. */
function resolveEntry(name: string, from: string, lock: Readonly<Record<string, LockEntry>>): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (path in lock) return path;
    if (folder === '') return undefined;
  }
}

/** Where documents of the project are in the package. */
const PACKAGED_DOCUMENTS: Readonly<Record<string, string>> = { 'CLI.md': 'README.md', 'AUDIT.md': 'AUDIT.md' };

/** A document of `docs/` as it stands in the package: what does not come along is named instead of linked. */
function renderPackagedDocument(text: string): string {
  return text.replace(/\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g, (_, words: string, path: string, anchor = '') => {
    const packaged = PACKAGED_DOCUMENTS[path];
    if (packaged !== undefined) return `[${words === path ? packaged : words}](${packaged}${anchor})`;
    return words === path ? `\`docs/${path}\` of the service` : `${words} (\`docs/${path}\` of the service)`;
  });
}

const SVC_MIN_NODE = 22;

/** Subpaths that programs import, and the modules below `src/` that each has: the first, or all of several. */
const SVC_ENTRIES: Readonly<Record<string, string | readonly string[]>> = {
  audit: 'audit/audit',
  chain: 'cli/svc/audit-options',
  claims: 'cli/svc/audit-options',
  'csv-prices': 'cli/svc/audit-prices',
  'live-prices': 'cli/svc/audit-prices',
  'report-text': 'audit/audit',
  verify: ['verify/verify', 'verify/summary', 'verify/evidence', 'verify/findings', 'chain/eas/schemas', 'forecast/day'],
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
function buildSvcFiles(version: string): Record<string, string> {
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
  const { runOnTerminal } = await import('./lib/src/cli/svc/main.js');
  await runOnTerminal([${words.map((word) => `'${word}', `).join('')}...process.argv.slice(2)], { environment: process.env, version: '${version}' });
}
`;
}
