import jsTokens from 'js-tokens';

export interface Prose {
  file: string;
  line: number;
  text: string;
}

export interface SourceText {
  prose: Prose[];
  names: { file: string; line: number; name: string }[];
  /** Specifiers of imports, type imports included. */
  imports: { specifier: string; line: number }[];
}

const TITLED = new Set(['it', 'test', 'describe', 'each', 'skipIf', 'runIf']);

/** Comments, strings, names and imports of a source file. Of a test's strings only titles count; the others are data. */
export function readSource(file: string, source: string): SourceText {
  const isTest = file.startsWith('test/');
  const prose: Prose[] = [];
  const names = new Map<string, number>();
  const imports: SourceText['imports'] = [];
  let line = 1;
  let before: string[] = [];
  for (const { type, value } of jsTokens(source)) {
    if (type === 'SingleLineComment' || type === 'MultiLineComment') prose.push({ file, line, text: value });
    else if (type === 'StringLiteral' || type.includes('Template')) {
      if (isImport(before)) imports.push({ specifier: value.slice(1, -1), line });
      else if (!isTest || isTitle(before)) prose.push({ file, line, text: value });
    } else if (type === 'IdentifierName' && !names.has(value)) names.set(value, line);
    if (type !== 'WhiteSpace' && type !== 'LineTerminatorSequence') before = [...before.slice(-3), value];
    line += value.split('\n').length - 1;
  }
  return { prose, names: [...names].map(([name, at]) => ({ file, line: at, name })), imports };
}

/** Prose of a Markdown document, its code blanked so that lines stay the same. */
export function readDocument(file: string, text: string): Prose[] {
  const blank = (code: string) => code.replace(/[^\n]/g, ' ');
  return [{ file, line: 1, text: text.replace(/```[\s\S]*?```|`[^`\n]*`|^ {4}.*$/gm, blank) }];
}

/** `it('…'`, `it.each(…)('…'`, `describe('…'`. */
function isTitle(before: readonly string[]): boolean {
  if (before.at(-1) !== '(') return false;
  return TITLED.has(before.at(-2) ?? '') || before.at(-2) === ')';
}

/** `from '…'`, `import '…'`, `import('…')`. */
function isImport(before: readonly string[]): boolean {
  const [last, beforeLast] = [before.at(-1), before.at(-2)];
  return last === 'from' || last === 'import' || (last === '(' && beforeLast === 'import');
}
