import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { oas31, ZodOpenApiPathsObject } from 'zod-openapi';
import { EVENT_ENVELOPE, PAYLOADS, PUSHED_NAMES } from '../events/events.ts';
import { buildOpenApiDocument } from '../http/openapi/document.ts';
import { toPascalCase } from '../http/openapi/schemas.ts';
import type { Route } from '../http/route.ts';
import { allRoutes } from '../http/routes.ts';
import { toInlineJsonSchema } from '../platform/validation.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCE = join(ROOT, 'clients/typescript');
/** Of the compiled modules in the package. */
const LIB = 'lib/clients/typescript/src';

interface Manifest {
  private?: boolean;
  name: string;
  version: string;
  exports: Record<string, string>;
  dependencies: Record<string, string>;
}

const readManifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Compiles the client with the code of the service that it uses, and writes a package that npm can pack. */
export function buildClient(target = join(ROOT, 'dist/bitcoin-signal-oracle-client')): { folder: string; name: string; version: string } {
  const folder = resolve(target);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  generateTypes();
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', SOURCE, '--outDir', join(folder, 'lib')], { stdio: 'inherit', env: {} });
  const manifest = completeManifest(readManifest(SOURCE));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(SOURCE, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  removeInternalDeclarations(folder, Object.values(readManifest(SOURCE).exports));
  return { folder, name: manifest.name, version: manifest.version };
}

/** The version of the service, exports of modules as paths, and dependencies at exactly the versions that the client was tested with. */
function completeManifest({ private: _, name, ...manifest }: Manifest) {
  const entry = (module: string) => ({ types: `./${LIB}/${module}.d.ts`, default: `./${LIB}/${module}.js` });
  const versionOf = (name: string) => readManifest(join(ROOT, 'node_modules', name)).version;
  return {
    name,
    ...manifest,
    version: readManifest(ROOT).version,
    exports: Object.fromEntries(Object.entries(manifest.exports).map(([path, module]) => [path, entry(module)])),
    dependencies: Object.fromEntries(Object.keys(manifest.dependencies).map((name) => [name, versionOf(name)])),
  };
}

/** What no public type refers to would only bring the types of libraries along. */
function removeInternalDeclarations(folder: string, modules: readonly string[]): void {
  const kept = listDeclarations(modules.map((module) => join(folder, LIB, `${module}.d.ts`)));
  for (const file of globSync(join(folder, 'lib/**/*.d.ts'))) {
    if (!kept.has(resolve(file))) rmSync(file);
    else writeFileSync(file, nameCompiledModules(readFileSync(file, 'utf8')));
  }
}

/** The compiler leaves `.ts` in declarations; only newer compilers look such a name up. */
function nameCompiledModules(declarations: string): string {
  return declarations.replace(/(\b(?:from|import\()\s*'\.[^']+)\.ts'/g, "$1.js'");
}

const GENERATOR = join(ROOT, 'bin/dev/openapi-typescript');

const TYPES_FILE = join(ROOT, 'clients/typescript/generated/openapi.ts');

/** Writes the types of clients/typescript by openapi-typescript, which has to be installed in bin/dev/openapi-typescript. */
export function generateTypes(): void {
  const folder = mkdtempSync(join(tmpdir(), 'oracle-types-'));
  try {
    const document = join(folder, 'openapi.json');
    writeFileSync(document, JSON.stringify(buildClientDocument()));
    mkdirSync(dirname(TYPES_FILE), { recursive: true });
    runGenerator(folder, [document, '--output', TYPES_FILE, '--default-non-nullable', 'false']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The hook brings the JavaScript API of TypeScript, which TypeScript 7 does not have. A folder of its own has no redocly.yaml. */
function runGenerator(cwd: string, words: readonly string[]): void {
  const hook = join(GENERATOR, 'typescript-api.mjs');
  const cli = join(GENERATOR, 'node_modules/openapi-typescript/bin/cli.js');
  execFileSync(process.execPath, ['--import', hook, cli, ...words], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { NO_COLOR: '1' },
  });
}

/** Document that the types of clients/typescript are generated from: operations and schemas of the service, and its events. */
function buildClientDocument(): oas31.OpenAPIObject {
  const routes = describeRoutes().filter(({ access, isWebSocket }) => access !== 'admin' && isWebSocket !== true);
  const document = buildOpenApiDocument(routes, { publicUrl: 'https://oracle.example.com', describesReplies: true });
  const { components = {}, paths = {} } = document;
  for (const operation of listOperations(paths)) leaveOutOfTypes(operation.responses);
  leaveOutOfTypes(components.responses);
  delete components.headers;
  Object.assign(components.schemas ?? {}, buildEventSchemas());
  return document;
}

/** Routes read their dependencies when they handle a request: here any property is there, and nothing is handled. */
export function describeRoutes(): Route[] {
  const anything: object = new Proxy(() => undefined, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => '' : anything),
    apply: () => anything,
  });
  return allRoutes(anything as Parameters<typeof allRoutes>[0]);
}

function listOperations(paths: object): oas31.OperationObject[] {
  return Object.values(paths as ZodOpenApiPathsObject).flatMap((item) => Object.values(item) as oas31.OperationObject[]);
}

/** Headers would be two thirds of the types. */
function leaveOutOfTypes(responses: object = {}): void {
  for (const response of Object.values(responses) as oas31.ResponseObject[]) {
    delete response.headers;
    for (const media of Object.values(response.content ?? {})) {
      delete media.example;
    }
  }
}

/** `SignalNewEvent` and so on. */
function buildEventSchemas(): Record<string, object> {
  return Object.fromEntries(
    PUSHED_NAMES.map((name) => {
      const event = z.object({ ...EVENT_ENVELOPE, type: z.literal(name), data: PAYLOADS[name] });
      return [`${toPascalCase(name)}Event`, toInlineJsonSchema(event, { io: 'input' })];
    }),
  );
}

/** Absolute paths of declaration files, and of all that they refer to by a relative path. */
function listDeclarations(entries: readonly string[]): Set<string> {
  const found = new Set<string>();
  const queue = entries.map((path) => resolve(path));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const references = readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)['"]/g);
    for (const [, path] of references) queue.push(resolve(dirname(file), path!.replace(/\.(?:js|ts)$/, '.d.ts')));
  }
  return found;
}
