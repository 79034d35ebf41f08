import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sanitizeText } from '../../../src/platform/validation.ts';

describe('external text', () => {
  it.each([
    ['Will BTC be above $100,000 (UTC)?', 'Will BTC be above $100,000 (UTC)?'],
    ['line\nbreak\u0000and\ttab', 'line break and tab'],
    ['# Heading **bold** `code` _x_ ~~y~~', 'Heading bold code x y'],
    ['[click](https://evil.example)', 'click (https: evil.example)'],
    ['![x](http://a) <script>alert(1)</script>', 'x (http: a) script alert(1) /script'],
    ['www.evil.example or WWW.evil', 'www evil.example or www evil'],
    ['mail me@evil.example', 'mail me evil.example'],
    ['\u202Eright to left\u2066 and \u200Bhidden', 'right to left and hidden'],
    ['Über 100 €, пример', 'Über 100 , пример'],
    ['| a | b |', 'a b'],
  ])('%j becomes %j', (text, plain) => {
    expect(sanitizeText(text, 100)).toBe(plain);
  });

  it('is cut to its maximum length, with an ellipsis', () => {
    expect(sanitizeText('abcdefghij', 10)).toBe('abcdefghij');
    expect(sanitizeText('abcdefghijk', 10)).toBe('abcdefghi…');
    expect(sanitizeText('x'.repeat(1_000_000), 10)).toHaveLength(10);
  });

  it('never has a line break, a control character, markup or a link, and never exceeds its maximum', () => {
    const hostile = fc.array(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('](', '//', 'www.', '://', '<b>', '`', '\n', '\u202E', '*', '\ud800')),
    );
    fc.assert(
      fc.property(hostile, fc.integer({ min: 4, max: 60 }), (fragments, max) => {
        const plain = sanitizeText(fragments.join(''), max);
        expect([...plain].length).toBeLessThanOrEqual(max);
        expect(plain).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}*_`[\]<>#|~!\\@{}]|\/\/|www\./iu);
        expect(plain).toBe(plain.trim());
      }),
    );
  });
});
