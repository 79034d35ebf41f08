import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PUBLICATION } from '../../../../agent-card/identity.ts';
import { filterChildEnvironment } from '../../../platform/child-process/child-environment.ts';
import { findImportedPackages, listInstalledPackages } from './imported-packages.ts';
import { PACKAGED_DOCUMENTS, renderPackagedDocument } from './packaged-document.ts';
import { buildSvcFiles, buildSvcManifest } from './svc-manifest.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');

export interface BuiltSvc {
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
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(ROOT, 'tsconfig.package.json'), '--outDir', join(folder, 'lib')], {
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

export interface PackedSvc {
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
