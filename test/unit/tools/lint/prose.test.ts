import { describe, expect, it } from 'vitest';
import { readDocument, readSource } from '../../../../src/tools/lint/prose.ts';

const texts = (file: string, source: string) => readSource(file, source).prose.map(({ line, text }) => [line, text]);

describe('readSource', () => {
  it('returns comments, strings and templates of a source file with their lines', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is the input
    const source = "// one\nconst a = 'two';\n/**\n * three\n */\nconst b = `four ${a} five`;\n";
    expect(texts('src/a.ts', source)).toEqual([
      [1, '// one'],
      [2, "'two'"],
      [3, '/**\n * three\n */'],
      [6, '`four ${'],
      [6, '} five`'],
    ]);
  });

  it('returns comments and titles of a test, not its other strings', () => {
    const source = [
      "describe('group', () => {",
      "  it('title', () => expect(say('data')).toBe('more data'));",
      "  it.each(['row'])('title of %s', () => {}); // comment",
      "  test('other title', () => {});",
      '});',
    ].join('\n');
    expect(texts('test/unit/a.test.ts', source)).toEqual([
      [1, "'group'"],
      [2, "'title'"],
      [3, "'title of %s'"],
      [3, '// comment'],
      [4, "'other title'"],
    ]);
  });

  it('returns specifiers of imports apart from prose', () => {
    const source =
      "import { a } from './a.ts';\nimport type { B } from '../b.ts';\nimport 'c';\nconst d = await import('./d.ts');\nexport { e } from './e.ts';\n";
    const { imports, prose } = readSource('src/x.ts', source);
    expect(imports).toEqual([
      { specifier: './a.ts', line: 1 },
      { specifier: '../b.ts', line: 2 },
      { specifier: 'c', line: 3 },
      { specifier: './d.ts', line: 4 },
      { specifier: './e.ts', line: 5 },
    ]);
    expect(prose).toEqual([]);
  });

  it('returns each name once, at its first line', () => {
    expect(readSource('src/x.ts', 'const told = 1;\ntold;\n').names).toEqual(
      expect.arrayContaining([{ file: 'src/x.ts', line: 1, name: 'told' }]),
    );
    expect(readSource('src/x.ts', 'const told = 1;\ntold;\n').names.filter(({ name }) => name === 'told')).toHaveLength(1);
  });

  it('does not take names in quotes for names', () => {
    expect(readSource('src/x.ts', "const a = 'told';").names.map(({ name }) => name)).not.toContain('told');
  });
});

describe('readDocument', () => {
  it('blanks code and keeps the lines', () => {
    const [{ text }] = readDocument('docs/A.md', 'Text `told` here\n\n```js\ntold();\n```\n\n    told indented\n\nlast');
    expect(text).not.toContain('told');
    expect(text.split('\n')).toHaveLength(9);
    expect(text).toMatch(/^Text +here/);
    expect(text.split('\n')[8]).toBe('last');
  });
});
