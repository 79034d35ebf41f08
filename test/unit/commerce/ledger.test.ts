import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRefCode } from '../../../src/commerce/ledger.ts';

const first = fc.constantFrom(...'abcxyzABCXYZ0189');
const rest = fc.array(fc.constantFrom(...'abcxyzABCXYZ0189_-'), { minLength: 2, maxLength: 31 });
const code = fc.tuple(first, rest).map(([head, tail]) => head + tail.join(''));

describe('parseRefCode', () => {
  it('is case-insensitive', () => {
    fc.assert(
      fc.property(code, (text) => {
        expect(parseRefCode(text)).toBe(text.toLowerCase());
        expect(parseRefCode(text.toUpperCase())).toBe(parseRefCode(text));
      }),
    );
  });

  it.each(['', 'ab', '-abc', '_abc', 'a'.repeat(33), 'a b c', 'abc\n', '<script>', '$ne', 'ab.c', 'äbc', 'ab\u212a'])(
    'rejects %j',
    (text) => {
      expect(() => parseRefCode(text)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field: 'ref' }));
    },
  );

  it('rejects an invalid code without quoting it', () => {
    expect(() => parseRefCode('<script>')).not.toThrow('script');
  });
});
