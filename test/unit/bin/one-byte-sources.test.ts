import { serialize } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toOneByte } from '../../../bin/service/one-byte-sources.mjs';

/** The serializer writes the representation that V8 keeps: `"` for one byte a character, `c` for two. */
const isOneByte = (text: string) => String.fromCharCode(serialize(text)[2]) === '"';

const text = fc.string({ unit: 'grapheme' });

it('means the same in strings, templates, regular expressions and JSON', () => {
  fc.assert(
    fc.property(text, (content) => {
      const literal = content.replaceAll('\\', '\\\\').replace(/[`$]/g, '');
      for (const source of [JSON.stringify(content), `\`${literal}\``]) {
        expect(runInNewContext(String(toOneByte(`${source} // →`)))).toBe(runInNewContext(source));
      }
      expect(JSON.parse(String(toOneByte(JSON.stringify([content, '→']))))).toEqual([content, '→']);
    }),
  );
  for (const escapes of ['\\', '\\\\', '\\\\\\']) {
    const source = `"${escapes}→"`;
    expect(runInNewContext(String(toOneByte(source)))).toBe(runInNewContext(source));
  }
  const matches = runInNewContext(String(toOneByte('["é–😀".match(/[–😀-😎]/gu), "→→".replaceAll(/→/g, "ü")]')));
  expect(JSON.stringify(matches)).toBe('[["–","😀"],"üü"]');
});

it('keeps one byte a character, and the lines', () => {
  const source = 'const a = 1; // one – two\nthrow new Error("é");\n';
  const loaded = String(toOneByte(Buffer.from(source)));
  expect([isOneByte(source), isOneByte(loaded)]).toEqual([false, true]);
  expect(loaded).toBe('const a = 1; // one \\u2013 two\nthrow new Error("\\u00e9");\n');
});

it('leaves alone what needs no change or would not mean the same', () => {
  for (const source of ['const plain = 1;', 'const latin = "é";', 'String.raw`a → b`', '"→\u2028"', 'a\u2002= "→"', null, undefined])
    expect(toOneByte(source)).toBe(source);
  const bytes = Buffer.from('const plain = 1;');
  expect(toOneByte(bytes)).toBe(bytes);
});
