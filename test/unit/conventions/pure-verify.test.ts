import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Files and packages that code imports, however far. */
async function reach(pattern: string): Promise<{ files: Set<string>; packages: Set<string> }> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open: string[] = [];
  for await (const path of glob(pattern, { cwd: ROOT })) open.push(path);
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    const imports = readFileSync(join(ROOT, path), 'utf8').matchAll(/^(import|export) (type )?[^'";]*\bfrom '([^']+)';/gm);
    for (const [, , isType, specifier] of imports) {
      if (isType !== undefined) continue;
      if (specifier.startsWith('.')) open.push(join(dirname(path), specifier));
      else packages.add(specifier);
    }
  }
  return { files, packages };
}

it('src/verify reaches viem alone, and no clock or network', async () => {
  const { files, packages } = await reach('src/verify/**/*.ts');
  expect([...packages]).toEqual(['viem']);
  expect(files.size).toBeGreaterThan(15);
  for (const path of [...files].filter((file) => file.startsWith('src/verify/'))) {
    expect(readFileSync(join(ROOT, path), 'utf8'), path).not.toMatch(
      /new Date\(\)|Date\.now|\bfetch\(|(?<!-)process\.|setTimeout|crypto\./,
    );
  }
});
