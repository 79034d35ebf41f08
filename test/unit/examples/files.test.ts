import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentText, ROOT } from '../../support/docs/documents.ts';
import { EXAMPLE_PROGRAMS } from '../../support/docs/example-programs.ts';

const FOLDER = join(ROOT, 'examples');
/** They go on until they are stopped: receivers.test.ts runs them. The agent is run by demo-agent.test.ts. */
const OTHERS = ['receivers/watch.mjs', 'receivers/webhook-receiver.mjs', 'demo-agent/main.ts'];

const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== 'README.md')
  .map(({ parentPath, name }) => join(parentPath, name).slice(FOLDER.length + 1));
const textOf = (file: string) => readFileSync(join(FOLDER, file), 'utf8');

/** Files that a file imports, sources or starts. */
function usedBy(file: string): string[] {
  const text = textOf(file);
  const named = [...text.matchAll(/from '(\.[^']+)'/g), ...text.matchAll(/\/(\.\.\/common\/[\w.]+)"/g)];
  const started = [...text.matchAll(/\bnode examples\/(common\/[\w.]+) "\$@"/g)];
  return [...named.map(([, path]) => join(dirname(file), path)), ...started.map(([, path]) => path)];
}

it('each file is run by a test, or used by one that is', () => {
  const reached = new Set([...Object.keys(EXAMPLE_PROGRAMS), ...OTHERS]);
  for (const file of reached) for (const used of usedBy(file)) reached.add(used);
  expect(files.toSorted()).toEqual([...reached].toSorted());
});

it('examples/README.md has the command of each, and no other', () => {
  const commands = [...documentText('examples/README.md').matchAll(/^\|.*`(?:npx node|node|bash) examples\/(\S+)` *\|$/gm)];
  const watched = OTHERS.filter((file) => file.startsWith('receivers/'));
  expect(commands.map(([, file]) => file).toSorted()).toEqual([...Object.keys(EXAMPLE_PROGRAMS), ...watched].toSorted());
});

describe.each(Object.keys(EXAMPLE_PROGRAMS))('examples/%s', (file) => {
  it('says at its top what it shows and how it is run, and is short', () => {
    const [first, second] = textOf(file).split('\n');
    const command = file.endsWith('.sh') ? 'bash' : 'npx node';
    expect(file.endsWith('.sh') ? second : first).toMatch(new RegExp(`^(//|#) [A-Z].*: ${command} examples/${file}\\b`));
    expect(textOf(file).trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });
});
