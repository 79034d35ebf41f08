import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STOCK_CLIENTS } from '../../../examples/clients/catalog.ts';
import { findStockClients } from '../../../examples/demo-agent/main.ts';
import { documentText, ROOT } from '../../support/docs/documents.ts';
import { EXAMPLE_PROGRAMS } from '../../support/docs/example-programs.ts';

const FOLDER = join(ROOT, 'examples');
/** Receivers go on until they are stopped: receivers.test.ts runs them. The agent is run by demo-agent.test.ts, clients by `npm run test:clients`. */
const PACKAGES = ['clients', 'ai-sdk', 'langchain'].flatMap((folder) => [`${folder}/package.json`, `${folder}/package-lock.json`]);
const CLIENTS = [...PACKAGES, ...STOCK_CLIENTS.map(({ file }) => `clients/${file}`)];
/** Ready-made uses, which run inside another program: test_*.py has those of bots, `npm run test:frameworks` and `npm run test:deploy` the others. */
const READY_MADE = [
  'freqtrade/oracle_range.py',
  'hummingbot/oracle_spread.py',
  'ai-sdk/ask.mjs',
  'langchain/ask.mjs',
  'github-action/action.yml',
];
const ACTION = ['github-action/check.mjs', 'github-action/verify-record.yml'];
const OTHERS = ['receivers/watch.mjs', 'receivers/webhook-receiver.mjs', 'demo-agent/main.ts', ...CLIENTS, ...READY_MADE, ...ACTION];

const files = globSync('**/*', { cwd: FOLDER, exclude: ['**/node_modules'] }).filter(
  (file) => statSync(join(FOLDER, file)).isFile() && file !== 'README.md',
);
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

describe.each(READY_MADE)('examples/%s', (file) => {
  it('says at its top what has skill and what has none, and is short', () => {
    const lines = textOf(file).trimEnd().split('\n');
    const top = lines
      .slice(0, 8)
      .join(' ')
      .replaceAll(/ ?(\/\/|#) /g, ' ');
    expect(top).toMatch(/The direction of these forecasts has no demonstrated skill, and the service says so/);
    expect(top).toMatch(/The part with\s+skill is the width of the range. Not investment advice/);
    // A bot's program is complete: what it does without a fresh range, a price or the money is part of it.
    expect(lines.length).toBeLessThanOrEqual(120);
  });

  it('has its line in examples/README.md', () => {
    expect(documentText('examples/README.md')).toContain(`](${file})`);
  });
});

it('demo:agent --as lists the clients when it is given a name that it does not know', () => {
  expect(findStockClients('x402-fetch').map(({ file }) => file)).toEqual(['fetch-v1.mjs']);
  expect(findStockClients('all')).toEqual(STOCK_CLIENTS);
  const hint = STOCK_CLIENTS.map(({ name }) => name).join(', ');
  expect(() => findStockClients('curl')).toThrow(expect.objectContaining({ hint: `Name one of ${hint}, all.` }));
});

describe.each(Object.keys(EXAMPLE_PROGRAMS))('examples/%s', (file) => {
  it('says at its top what it shows and how it is run, and is short', () => {
    const [first, second] = textOf(file).split('\n');
    const command = file.endsWith('.sh') ? 'bash' : 'npx node';
    expect(file.endsWith('.sh') ? second : first).toMatch(new RegExp(`^(//|#) [A-Z].*: ${command} examples/${file}\\b`));
    expect(textOf(file).trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });
});
