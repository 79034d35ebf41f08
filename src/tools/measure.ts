import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import jsTokens from 'js-tokens';

/** Size of the sources; code lines are lines that hold a token. Figures of `test/budgets.json`, which may only fall. */
interface Measures {
  codeLines: number;
  files: number;
  folders: number;
  meanLines: number;
  medianLines: number;
  exports: number;
  /** Exported names that exactly one other file of the sources imports. */
  exportsWithOneImporter: number;
  importLines: number;
  testLines: number;
  docWords: number;
  packages: number;
}

const SOURCES = '{src,skills,agent-card,bin,bench,clients,examples,contracts}/**/*.{ts,js,mjs}';
const TESTS = 'test/**/*.{ts,js,mjs}';
const DOCUMENTS = '{*.md,docs/**/*.md,examples/**/*.md,clients/**/*.md,deploy/**/*.md}';
const LEFT_OUT = ['**/node_modules', '**/generated', '**/compiled', '**/dist', '**/build'];

interface Source {
  file: string;
  lines: number;
  importLines: number;
  exported: string[];
  /** `<file>#<name>`. */
  imported: string[];
}

export function measure(root: string): Measures {
  const list = (pattern: string) => globSync(pattern, { cwd: root, exclude: LEFT_OUT });
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const sources = list(SOURCES).map((file) => readSource(file, read(file)));
  const importers = new Map<string, number>();
  for (const { imported } of sources) for (const name of new Set(imported)) importers.set(name, (importers.get(name) ?? 0) + 1);
  const exported = sources.flatMap(({ file, exported: names }) => names.map((name) => `${file}#${name}`));
  const byLines = sources.map(({ lines }) => lines).sort((a, b) => a - b);
  const codeLines = sum(byLines);
  return {
    codeLines,
    files: sources.length,
    folders: new Set(sources.map(({ file }) => dirname(file))).size,
    meanLines: Math.round(codeLines / sources.length),
    medianLines: byLines[byLines.length >> 1] ?? 0,
    exports: exported.length,
    exportsWithOneImporter: exported.filter((name) => importers.get(name) === 1).length,
    importLines: sum(sources.map((source) => source.importLines)),
    testLines: sum(list(TESTS).map((file) => readSource(file, read(file)).lines)),
    docWords: sum(list(DOCUMENTS).map((file) => read(file).match(/\S*\w\S*/g)?.length ?? 0)),
    packages: countPackages(JSON.parse(read('package-lock.json'))),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Of the lock file, less those of single platforms. */
function countPackages({ packages }: { packages: Record<string, { os?: string[]; cpu?: string[] }> }): number {
  return Object.entries(packages).filter(([path, { os, cpu }]) => path !== '' && os === undefined && cpu === undefined).length;
}

interface Token {
  value: string;
  line: number;
  isString: boolean;
}

function readSource(file: string, text: string): Source {
  const lines = new Set<number>();
  const tokens: Token[] = [];
  let line = 0;
  for (const { type, value } of jsTokens(text)) {
    const height = value.split('\n').length - 1;
    if (!/^(?:WhiteSpace|LineTerminatorSequence|SingleLineComment|MultiLineComment|HashbangComment)$/.test(type)) {
      for (let at = line; at <= line + height; at++) lines.add(at);
      tokens.push({ value, line, isString: type === 'StringLiteral' });
    }
    line += height;
  }
  return { file, lines: lines.size, ...readModule(file, tokens) };
}

const DECLARES = new Set(['const', 'let', 'function', 'class', 'interface', 'type', 'enum']);

function readModule(file: string, tokens: readonly Token[]): Pick<Source, 'importLines' | 'exported' | 'imported'> {
  const found = { importLines: 0, exported: [] as string[], imported: [] as string[] };
  for (const [at, { value, line }] of tokens.entries()) {
    const next = tokens[at + 1]?.value;
    if (value === 'import' && next !== '(' && next !== '.') {
      const end = tokens.findIndex(({ isString }, index) => index > at && isString);
      const specifier = tokens[end]!;
      found.importLines += specifier.line - line + 1;
      const target = specifier.value.slice(1, -1);
      if (target.startsWith('.')) {
        const module = posix.join(posix.dirname(file), target);
        found.imported.push(...readNames(tokens.slice(at, end), 'before').map((name) => `${module}#${name}`));
      }
    } else if (value === 'export') {
      if (next === '{') found.exported.push(...readNames(tokens.slice(at), 'after'));
      const keyword = tokens.slice(at + 1, at + 4).findIndex((token) => DECLARES.has(token.value));
      const name = tokens[at + 2 + keyword]?.value;
      if (keyword >= 0 && next !== '{' && name !== undefined) found.exported.push(name === '*' ? tokens[at + 3 + keyword]!.value : name);
    }
  }
  return found;
}

/** The names in the first braces; of `a as b` the one before or after. */
function readNames(tokens: readonly Token[], side: 'before' | 'after'): string[] {
  const values = tokens.map(({ value }) => value);
  const [open, close] = [values.indexOf('{'), values.indexOf('}')];
  if (open < 0) return [];
  const entries = values
    .slice(open + 1, close)
    .join(' ')
    .split(',');
  return entries.flatMap((entry) => {
    const names = entry
      .replace(/^\s*type\s+(?=\S)/, '')
      .trim()
      .split(/\s+as\s+/);
    return (side === 'before' ? names[0] : names.at(-1)) || [];
  });
}
