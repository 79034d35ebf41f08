import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentText, ROOT } from '../../support/docs/documents.ts';

const promises = [...documentText('docs/PROMISES.md').matchAll(/^(\d+)\. (.+(?:\n {3,4}.+)*)/gm)].map(([, number, text]) => ({
  number: Number(number),
  tests: [...text.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path),
}));

describe('docs/PROMISES.md', () => {
  it('numbers its promises without a gap', () => {
    expect(promises.length).toBeGreaterThanOrEqual(34);
    expect(promises.map(({ number }) => number)).toEqual(promises.map((_, index) => index + 1));
  });

  it.each(promises)('names tests of promise $number that exist', ({ tests }) => {
    expect(tests).not.toHaveLength(0);
    for (const path of tests) expect(existsSync(resolve(ROOT, path)), path).toBe(true);
  });
});
