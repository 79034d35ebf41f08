import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../support/docs/documents.ts';

const read = (file: string) => readFileSync(resolve(ROOT, file), 'utf8').split('\n');
/** Without pages that only name an address: JSON of assistants, and addresses to open in a browser. */
const isCommand = (line: string) =>
  /^\s*(curl|npx|node|websocat|claude|codex|export)\b/.test(line) || /\bconst service\b|createFromUrl/.test(line);

it.each(['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: ROOT })])('every command of %s follows PORT', (file) => {
  const fixed = read(file).filter((line) => isCommand(line) && /127\.0\.0\.1:3000\b/.test(line));
  expect(fixed).toEqual([]);
});

it('every example follows SERVICE_URL and PORT, and takes an empty one as unset', () => {
  const files = globSync('examples/**/*.{ts,mjs,sh}', { cwd: ROOT, exclude: ['**/node_modules/**'] });
  const lines = files.flatMap((file) => read(file).map((line) => `${file}: ${line.trim()}`));
  const addresses = lines.filter((line) => /\b3000\b/.test(line));
  expect(addresses.length).toBeGreaterThan(2);
  for (const line of addresses) expect(line).toMatch(/PORT(:-| \|\| )3000/);
  expect(lines.filter((line) => /\b(SERVICE_URL|PORT) \?\?/.test(line))).toEqual([]);
});
