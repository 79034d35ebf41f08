import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findLargeFolders } from './folders.ts';
import { type Finding, findHouseNames, findHouseWords } from './house-words.ts';
import { findForbiddenImports } from './import-law.ts';
import { readDocument, readSource } from './prose.ts';

const CODE = ['src', 'skills', 'agent-card', 'bin', 'bench', 'examples', 'clients/typescript/src', 'clients/typescript/examples', 'test'];
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs'];
/** Folders whose files are counted; suites mirror what they test. */
const LAID_OUT = /^(src|skills|agent-card|bin|test)\//;

/** Checks names, prose, folders and imports of the whole tree, or of the paths given. */
export function main(paths: readonly string[]): void {
  const findings = findAll(listFiles(paths.length === 0 ? [...CODE, ...DOCUMENTS] : paths));
  for (const { file, line, message } of findings) console.error(`${file}:${line}  ${message}`);
  if (findings.length === 0) return;
  console.error(`\n${findings.length} places to rewrite; the glossary is in CONTRIBUTING.md`);
  process.exitCode = 1;
}

function findAll(files: readonly string[]): Finding[] {
  const sources = files
    .filter((file) => /\.(ts|js|mjs)$/.test(file))
    .map((file) => ({ file, ...readSource(file, readFileSync(file, 'utf8')) }));
  const documents = files.filter((file) => file.endsWith('.md')).flatMap((file) => readDocument(file, readFileSync(file, 'utf8')));
  return [
    ...findHouseWords([...sources.flatMap(({ prose }) => prose), ...documents]),
    ...findHouseNames(sources.flatMap(({ names }) => names)),
    ...sources.flatMap(({ file, imports }) => findForbiddenImports(file, imports)),
    ...findLargeFolders(files.filter((file) => LAID_OUT.test(file))),
  ];
}

/** Files of folders, except this folder, whose tables name the house words. */
function listFiles(paths: readonly string[]): string[] {
  return paths
    .flatMap((path) =>
      statSync(path).isDirectory() ? globSync('**/*', { cwd: path, exclude: ['**/node_modules'] }).map((name) => join(path, name)) : [path],
    )
    .filter((file) => statSync(file).isFile() && !file.startsWith('src/tools/lint/'))
    .sort();
}
