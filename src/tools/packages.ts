import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { MCP_REGISTRY_SCHEMA, SERVER_COPY } from '../../agent-card/documents.ts';
import { IDENTITY, INTERFACES } from '../../agent-card/endpoints.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { SKILLS } from '../../skills/index.ts';
import { DEFAULT_URL } from '../cli/svc/command.ts';
import { filterChildEnvironment } from '../platform/child-process.ts';
import { importBundler } from './bundler.ts';
import { readLicenseNotice } from './page.ts';

/** Names under which releases are published. Another publisher has other ones, and runs `npm run docs:tables` after a change. */
export const PUBLICATION = {
  /** On npm. `npx` starts the program that is named like the part after the slash. */
  npmName: '@bitcoin-signal-oracle/svc',
  /** In the MCP registry, where a login at GitHub proves the part before the slash. */
  mcpName: 'io.github.bitcoin-signal-oracle/bitcoin-signal-oracle',
  /** Accounts at GitHub that may claim the entry at Glama. */
  maintainers: ['bitcoin-signal-oracle'],
} as const;

/** Files by which directories of MCP servers find the project, by path. */
export function buildPackageFiles(): Record<string, string> {
  return {
    'deploy/directories/server.json': toJson(buildRegistryEntry(packageJson)),
    'deploy/directories/smithery.yaml': renderSmitheryFile(),
    // https://glama.ai/mcp/schemas/server.json
    'deploy/directories/glama.json': toJson({ $schema: 'https://glama.ai/mcp/schemas/server.json', maintainers: PUBLICATION.maintainers }),
  };
}

const toJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Entry of the project in the MCP registry (`server.json`, schema 2025-12-11): the package, which reaches any service, and the endpoint of
 * a service that the user names. A service on the internet serves an entry of its own.
 */
export function buildRegistryEntry({ version }: { version: string }) {
  return {
    $schema: MCP_REGISTRY_SCHEMA,
    name: PUBLICATION.mcpName,
    ...SERVER_COPY,
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: PUBLICATION.npmName,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }],
        environmentVariables: PACKAGE_SETTINGS.map(({ variable, description, isSecret, default: fallback }) => ({
          name: variable,
          description,
          isRequired: false,
          isSecret,
          ...(fallback === '' ? {} : { default: fallback }),
        })),
      },
    ],
    remotes: [
      {
        type: 'streamable-http',
        url: `https://{host}${INTERFACES.mcp.endpoints[0]}`,
        variables: { host: { description: 'Host name of a running service', isRequired: true, placeholder: 'oracle.example.org' } },
        headers: [
          {
            name: 'Authorization',
            description: '"Bearer " and an API key or access token of the service; only gated tools ask for it',
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

/** A setting of the stdio MCP server that directories and hosts ask their users for. */
interface PackageSetting {
  /** Name in files that map settings to variables. */
  key: string;
  /** Environment variable. */
  variable: string;
  title: string;
  description: string;
  isSecret: boolean;
  /** Of the setting when the user enters nothing; empty: none. */
  default: string;
}

/** All of them are optional. */
export const PACKAGE_SETTINGS: readonly PackageSetting[] = [
  {
    key: 'service_url',
    variable: 'ORACLE_URL',
    title: 'Address of the service',
    description: 'A running Bitcoin Signal Oracle, such as https://oracle.example.org',
    isSecret: false,
    default: DEFAULT_URL,
  },
  {
    key: 'api_key',
    variable: 'ORACLE_TOKEN',
    title: 'API key',
    description: 'An API key or access token of the service, for forecasts whose outcome is open; everything else needs none',
    isSecret: true,
    default: '',
  },
  {
    key: 'private_key',
    variable: 'PRIVATE_KEY',
    title: 'Private key of a wallet',
    description: 'Instead of an API key: 0x and 64 hex characters of a wallet with gate tokens. It signs logins, and is never sent',
    isSecret: true,
    default: '',
  },
];

/** `smithery.yaml`: how Smithery starts the package over standard input and output, and what it asks its users for. */
function renderSmitheryFile(): string {
  const properties = PACKAGE_SETTINGS.flatMap(({ key, title, description, default: fallback }) => [
    `      ${key}:`,
    '        type: string',
    `        title: ${JSON.stringify(title)}`,
    `        description: ${JSON.stringify(description)}`,
    `        default: ${JSON.stringify(fallback)}`,
  ]);
  const environment = PACKAGE_SETTINGS.map(({ key, variable }) => `${variable}: config.${key}`).join(', ');
  return [
    '# Generated by npm run docs:tables. https://smithery.ai/docs/config/smithery.yaml',
    'startCommand:',
    '  type: stdio',
    '  configSchema:',
    '    type: object',
    '    required: []',
    '    properties:',
    ...properties,
    '  commandFunction: |-',
    `    (config) => ({ command: 'npx', args: ['-y', '${PUBLICATION.npmName}', 'mcp'], env: { ${environment} } })`,
    '  exampleConfig:',
    `    ${PACKAGE_SETTINGS[0].key}: ${JSON.stringify(PACKAGE_SETTINGS[0].default)}`,
    '',
  ].join('\n');
}

const BUNDLE_ENTRY = 'server/index.mjs';
const BUNDLE_ICON = 'icon.png';
/** Hosts start a bundle with the Node that they bring. */
const BUNDLE_MIN_NODE = '20.12';

/** `manifest.json` of the MCP bundle (MCPB 0.4). A field without a default would reach the program as its placeholder. */
export function buildBundleManifest({ version, license }: { version: string; license: string }) {
  return {
    manifest_version: '0.4',
    name: IDENTITY.slug,
    display_name: IDENTITY.name,
    version,
    description: IDENTITY.tagline,
    long_description: `${IDENTITY.description}\n\nThe bundle connects to a service that runs on this machine or elsewhere. It contains no service.`,
    author: { name: `${IDENTITY.name} maintainers` },
    icon: BUNDLE_ICON,
    server: {
      type: 'node',
      entry_point: BUNDLE_ENTRY,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${BUNDLE_ENTRY}`],
        env: Object.fromEntries(PACKAGE_SETTINGS.map(({ key, variable }) => [variable, `\${user_config.${key}}`])),
      },
    },
    tools: SKILLS.map(({ id, summary }) => ({ name: id, description: summary })),
    prompts_generated: true,
    keywords: [...IDENTITY.topics],
    license,
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: `>=${BUNDLE_MIN_NODE}` } },
    user_config: Object.fromEntries(
      PACKAGE_SETTINGS.map(({ key, title, description, isSecret, default: fallback }) => [
        key,
        { type: 'string', title, description, required: false, sensitive: isSecret, default: fallback },
      ]),
    ),
  };
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** `ICON_SVG` in 512 x 512 pixels, which the validator recommends. */
const ICON = new URL('./icon.png', import.meta.url);

/** Node has it from version 22 on. */
const WITH_RESOLVERS = `Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((a, b) => { resolve = a; reject = b; });
  return { promise, resolve, reject };
};`;

const OPTIONS = {
  absWorkingDir: ROOT,
  stdin: {
    contents: `import { runMcpAlone } from './src/cli/svc/errors.ts';
await runMcpAlone({ environment: process.env, version: ${JSON.stringify(packageJson.version)} });`,
    resolveDir: ROOT,
  },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: `node${BUNDLE_MIN_NODE}`,
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  write: false,
  metafile: true,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/**
 * Writes what an MCP bundle contains into a folder: the stdio server with its packages in one file, manifest and icon.
 * @throws OracleError CONFIG_INVALID if the optional package esbuild is not installed
 */
export async function buildMcpb(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const entry = join(folder, BUNDLE_ENTRY);
  await mkdir(dirname(entry), { recursive: true });
  await writeFile(entry, await bundleServer());
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(buildBundleManifest(packageJson), null, 2)}\n`);
  await copyFile(ICON, join(folder, BUNDLE_ICON));
}

async function bundleServer(): Promise<string> {
  const { build } = await importBundler({ name: 'bundle', script: 'build:mcpb' });
  const { outputFiles, metafile } = await build(OPTIONS);
  const [{ inputs }] = Object.values(metafile.outputs);
  const contained = Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
  return `${await readLicenseNotice(ROOT, contained)}${WITH_RESOLVERS}\n${outputFiles[0].text}`;
}

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
