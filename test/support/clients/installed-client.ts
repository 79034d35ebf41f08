import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { filterChildEnvironment } from '../../../src/platform/child-process.ts';
import { buildClient } from '../../../src/tools/client.ts';
import { ROOT } from '../docs/documents.ts';
import type { Ended } from '../docs/example-world.ts';

const EXAMPLES = join(ROOT, 'clients/typescript/examples');

/** Compilers and runtimes of users, which are older than those of this project. */
const OF_USERS = ['node@22', 'typescript@5.9', '@types/node@22'];

export interface InstalledClient {
  folder: string;
  /** Names of the examples, without extension. */
  examples: string[];
  start(example: string, words: readonly string[], environment: Record<string, string>): ReturnType<typeof spawn>;
  /** Runs an example to its end. */
  run(example: string, environment: Record<string, string>, words?: readonly string[]): Promise<Ended>;
}

/** Installs the packed client by npm in an empty folder, and compiles the examples there. Asks the registry for its dependencies. */
export function installClient(): InstalledClient {
  const folder = mkdtempSync(join(tmpdir(), 'oracle-client-'));
  // Without the guard of suites, which lets programs reach this machine alone: npm asks its registry.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const options = { cwd: folder, encoding: 'utf8', env } as const;
  const built = buildClient(join(folder, 'package'));
  execFileSync('npm', ['pack', '--silent'], { ...options, cwd: built.folder });
  const tarball = `./package/${globSync('*.tgz', { cwd: built.folder })[0]}`;
  const viem = JSON.parse(readFileSync(join(ROOT, 'node_modules/viem/package.json'), 'utf8')).version;
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', tarball, `viem@${viem}`, ...OF_USERS], options);
  cpSync(EXAMPLES, join(folder, 'examples'), { recursive: true });
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--target', 'es2023', '--module', 'nodenext'];
  const node = join(folder, 'node_modules/node/bin/node');
  const files = globSync('examples/*.ts', { cwd: folder });
  execFileSync(node, ['node_modules/typescript/bin/tsc', ...strict, '--types', 'node', ...files], options);
  const start: InstalledClient['start'] = (example, words, environment) =>
    spawn(node, [`examples/${example}.js`, ...words], {
      cwd: folder,
      env: { ...filterChildEnvironment(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    folder,
    examples: files.map((file) => file.slice('examples/'.length, -'.ts'.length)).toSorted(),
    start,
    async run(example, environment, words = []) {
      const child = start(example, words, environment);
      const [output, errors, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
      return { code, output, errors };
    },
  };
}
