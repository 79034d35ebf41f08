import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findLargeFolders } from './folders.ts';
import { type Finding, findHouseNames, findHouseWords } from './house-words.ts';
import { findForbiddenImports } from './import-law.ts';
import { readDocument, readSource } from './prose.ts';

const CODE = ['src', 'skills', 'agent-card', 'bin', 'bench', 'examples', 'test'];
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'docs'];
/** Folders whose files are counted; suites mirror what they test. */
const LAID_OUT = /^(src|skills|agent-card|bin|test)\//;

/** Checks names, prose, folders and imports. Arguments: `--layout` for folders and imports alone; paths in place of the whole tree. */
export function main(args: readonly string[]): void {
  const paths = args.filter((arg) => arg !== '--layout');
  const findings = findAll(listTrackedFiles(paths.length === 0 ? [...CODE, ...DOCUMENTS] : paths), args.includes('--layout'));
  for (const { file, line, message } of findings) console.error(`${file}:${line}  ${message}`);
  if (findings.length === 0) return;
  console.error(`\n${findings.length} places to rewrite; the glossary is in CONTRIBUTING.md`);
  process.exitCode = 1;
}

function findAll(files: readonly string[], layoutOnly: boolean): Finding[] {
  const sources = files
    .filter((file) => /\.(ts|js|mjs)$/.test(file))
    .map((file) => ({ file, ...readSource(file, readFileSync(file, 'utf8')) }));
  const layout = [
    ...sources.flatMap(({ file, imports }) => findForbiddenImports(file, imports)),
    ...findLargeFolders(files.filter((file) => LAID_OUT.test(file))),
  ];
  if (layoutOnly) return layout;
  const documents = files.filter((file) => file.endsWith('.md')).flatMap((file) => readDocument(file, readFileSync(file, 'utf8')));
  return [
    ...findHouseWords([...sources.flatMap(({ prose }) => prose), ...documents]),
    ...findHouseNames(sources.flatMap(({ names }) => names)),
    ...layout,
  ];
}

/** Files under version control, except vendored ones and this folder, whose tables name the house words. */
function listTrackedFiles(paths: readonly string[]): string[] {
  return execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8', env: {} })
    .split('\n')
    .filter((file) => file !== '' && !file.includes('/vendor/') && !file.startsWith('src/tools/lint/'));
}
