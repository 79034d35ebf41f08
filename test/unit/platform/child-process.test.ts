import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filterChildEnvironment } from '../../../src/platform/child-process.ts';
import { SETTINGS } from '../../../src/settings.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

describe('the environment of a child process', () => {
  it('has what a program needs, and no setting', () => {
    const settings = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, 'a setting']));
    const needed = { PATH: '/bin', HOME: '/root', TMPDIR: '/tmp', LANG: 'C.UTF-8' };
    expect(filterChildEnvironment({ ...settings, ...needed, AWS_SECRET_ACCESS_KEY: 'canary', TZ: undefined })).toEqual(needed);
  });

  it('is said wherever a process or a thread is started', () => {
    const calls = globSync(['src/**/*.ts', 'skills/**/*.ts', 'bin/**/*.mjs'], { cwd: ROOT, exclude: ['**/node_modules'] }).flatMap(
      (file) => {
        const code = readFileSync(resolve(ROOT, file), 'utf8');
        return [...code.matchAll(/\b(?:spawn|spawnSync|fork|execFile|execFileSync|exec|execSync|new Worker)\(\s*(?=[a-zA-Z'"`/])/g)]
          .filter(({ index }) => !/[.\w]$/.test(code.slice(0, index)))
          .map(({ index }) => ({ file, call: code.slice(index, closingOf(code, code.indexOf('(', index))) }));
      },
    );
    expect(calls.length).toBeGreaterThan(5);
    for (const { file, call } of calls) expect(call, file).toMatch(/\benv\b/);
  });
});

/** Where the bracket that opens at `start` closes. */
function closingOf(code: string, start: number): number {
  let depth = 0;
  for (let index = start; index < code.length; index++) {
    if (code[index] === '(') depth++;
    if (code[index] === ')' && --depth === 0) return index;
  }
  return code.length;
}
