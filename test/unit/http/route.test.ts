import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EncodedText, preferredEncoding } from '../../../src/http/route.ts';

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
