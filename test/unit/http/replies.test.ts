import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildWeakEtag, EncodedText, matchesEtag, negotiateMediaType, preferredEncoding } from '../../../src/http/replies.ts';

describe('buildWeakEtag', () => {
  const body = {
    price: 1,
    timestamp: 'now',
    ageSeconds: 3,
    inputs: [
      { series: 'spot', ageSeconds: 3 },
      { ageDays: 1, stale: false },
    ],
  };

  it('is weak, and ignores volatile members', () => {
    const later = {
      price: 1,
      timestamp: 'later',
      ageSeconds: 9,
      inputs: [
        { series: 'spot', ageSeconds: 9 },
        { ageDays: 2, stale: false },
      ],
    };
    expect(buildWeakEtag(body)).toMatch(/^W\/"[\w-]{43}"$/);
    expect(buildWeakEtag(later)).toBe(buildWeakEtag(body));
  });

  it('changes with any other member', () => {
    const others = [
      { ...body, price: 2 },
      { ...body, inputs: [{ series: 'spot' }, { stale: true }] },
      { ...body, observedAt: 'then' },
    ];
    expect(new Set([body, ...others].map(buildWeakEtag)).size).toBe(4);
  });
});

describe('matchesEtag', () => {
  const tag = 'W/"abc"';

  it.each(['W/"abc"', '"abc"', '"x", W/"abc" ,"y"', '*', ' * '])('matches %s', (header) => {
    expect(matchesEtag(header, tag)).toBe(true);
  });

  it.each(['', '"abcd"', 'abc', 'W/"x"'])('does not match %s', (header) => {
    expect(matchesEtag(header, tag)).toBe(false);
  });
});
const OFFERED = ['application/json', 'text/plain', 'text/markdown'] as const;

describe('negotiateMediaType', () => {
  it.each([
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/plain', 'text/plain'],
    ['TEXT/Plain', 'text/plain'],
    ['text/markdown; charset=utf-8', 'text/markdown'],
    ['text/*', 'text/plain'],
    ['text/plain;q=0.5, text/markdown;q=0.8', 'text/markdown'],
    ['text/plain, text/markdown', 'text/plain'],
    // The range that names the type most exactly counts, not the first nor the kindest.
    ['text/*;q=0.9, text/plain;q=0.1', 'text/markdown'],
    ['*/*, application/json;q=0', 'text/plain'],
    ['*/*;q=0.1, text/markdown;q=0.2', 'text/markdown'],
    ['application/json;q=0, text/plain;q=0, text/markdown;q=0.001', 'text/markdown'],
    // What a browser sends.
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 'application/json'],
    // Nothing of it is to be had, or it cannot be read.
    ['image/png', 'application/json'],
    ['text/plain;q=0', 'application/json'],
    ['*/plain', 'application/json'],
    [',,;q=1,/', 'application/json'],
    ['text/plain;q=2', 'text/plain'],
  ])('returns for "%s": %s', (accept, type) => {
    expect(negotiateMediaType(accept, OFFERED)).toBe(type);
  });

  it('always returns an offered type', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('text/plain', '*/*', 'text/*', 'q=0', 'q=0.5', 'q=1.0'));
    const header = fc.array(fc.array(word, { maxLength: 4 }).map((words) => words.join(';'))).map((items) => items.join(','));
    fc.assert(
      fc.property(header, (accept) => {
        expect(OFFERED).toContain(negotiateMediaType(accept, OFFERED));
      }),
    );
  });
});

describe('preferredEncoding', () => {
  it.each([
    ['', null],
    ['identity', null],
    ['zstd, deflate', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP, BR;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0,gzip;q=0', null],
    ['*', 'br'],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['gzip;q=x', null],
  ])('of "%s" is %s', (header, encoding) => {
    expect(preferredEncoding(header)).toBe(encoding);
  });
});

describe('EncodedText', () => {
  const text = 'ä text that repeats '.repeat(500);

  it('compresses once per coding', async () => {
    const encoded = new EncodedText(text);
    const [br, again, gzip] = await Promise.all([encoded.encode('br'), encoded.encode('br'), encoded.encode('gzip')]);
    expect(again).toBe(br);
    expect(await encoded.encode('br')).toBe(br);
    expect([brotliDecompressSync(br).toString(), gunzipSync(gzip).toString()]).toEqual([text, text]);
  });

  it('is sent uncompressed where short, or where no coding is accepted', () => {
    expect(new EncodedText('short').chooseEncoding('br')).toBeNull();
    expect(new EncodedText(text).chooseEncoding(undefined)).toBeNull();
    expect(new EncodedText(text).chooseEncoding('br')).toBe('br');
  });
});
