import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Calls a function until the compiler of last resort has had it, and lists the compilers that it has run under. */
const PROGRAM = `
  const add = (total, value) => total + value * 1.5;
  const seen = new Set();
  const until = performance.now() + 10_000;
  while (!seen.has('turbofan') && performance.now() < until) {
    for (let round = 0, total = 0; round < 1000; round++) total = add(total, round);
    await new Promise(setImmediate);
    if (%ActiveTierIsMaglev(add)) seen.add('maglev');
    if (%ActiveTierIsTurbofan(add)) seen.add('turbofan');
  }
  console.log([...seen].join(' '));
`;

function listCompilers(...imports: string[]): string {
  const flags = imports.map((path) => `--import=${pathToFileURL(resolve(import.meta.dirname, '../../..', path))}`);
  const { stdout } = spawnSync(process.execPath, [...flags, '--allow-natives-syntax', '--input-type=module', '--eval', PROGRAM]);
  return String(stdout).trim();
}

describe('what runs often', () => {
  it('is compiled by Maglev in a process of Node itself', () => {
    expect(listCompilers()).toContain('maglev');
  });

  it('is never compiled by Maglev in a process of the service', () => {
    expect(listCompilers('bin/service/every-process.mjs')).toBe('turbofan');
  });
});
