import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findLargeFolders } from './folders.ts';
import { type Finding, findHouseNames, findHouseWords } from './house-words.ts';
import { findForbiddenImports } from './import-law.ts';
import { readDocument, readSource } from './prose.ts';

const CODE = ['src', 'skills', 'agent-card', 'bin', 'bench', 'examples', 'test'];
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'docs'];
/** Where the layout counts files; suites mirror what they test. */
const LAID_OUT = /^(src|skills|agent-card|bin|test)\//;

/** Checks names, prose, folders and imports. Arguments: `--layout` for folders and imports alone; folders, in place of the whole tree. */
export function main(args: readonly string[]): void {
  const findings = check(
    args.filter((arg) => arg !== '--layout'),
    args.includes('--layout'),
  );
  for (const { file, line, message } of findings) console.error(`${file}:${line}  ${message}`);
  if (findings.length === 0) return;
  console.error(`\n${findings.length} places to rewrite; the glossary is in CONTRIBUTING.md`);
  process.exitCode = 1;
}

function check(folders: readonly string[], layoutOnly: boolean): Finding[] {
  const code = trackedFiles(folders.length === 0 ? CODE : folders).filter((file) => /\.(ts|js|mjs)$/.test(file) && !isVendored(file));
  const sources = code.map((file) => ({ file, ...readSource(file, readFileSync(file, 'utf8')) }));
  const layout = [
    ...sources.flatMap(({ file, imports }) => findForbiddenImports(file, imports)),
    ...findLargeFolders(trackedFiles(folders.length === 0 ? CODE : folders).filter((file) => LAID_OUT.test(file) && !isVendored(file))),
  ];
  if (layoutOnly) return layout;
  const documents = trackedFiles(folders.length === 0 ? DOCUMENTS : folders)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => readDocument(file, readFileSync(file, 'utf8')));
  return [
    ...findHouseWords([...sources.flatMap(({ prose }) => prose), ...documents]),
    ...findHouseNames(sources.flatMap(({ names }) => names)),
    ...layout,
  ];
}

function trackedFiles(paths: readonly string[]): string[] {
  return execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8', env: {} })
    .split('\n')
    .filter(Boolean);
}

/** Code of others, and names that a file format gives. */
function isVendored(file: string): boolean {
  return file.includes('/vendor/') || file.startsWith('src/tools/lint/');
}
