import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generateTypes } from './generate-types.ts';
import { listDeclarations } from './reachable-declarations.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
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
