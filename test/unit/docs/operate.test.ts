import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadConfig, SETTINGS } from '../../../src/config.ts';
import { ERROR_CODES } from '../../../src/errors.ts';
import { documentText, ROOT } from '../../support/documents.ts';

const text = documentText('docs/OPERATE.md');

/** The block of a kind whose first line names it. */
const block = (kind: string, name: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${kind}\\n(.*?)\`\`\``, 'gs'))]
    .map(([, content]) => content)
    .find((content) => content.includes(name))!;

const example = parseEnv(block('ini', '# /etc/oracle.env')) as Record<string, string>;
const HEX = '0123456789abcdef'.repeat(4);
const FILLED: Record<string, string> = { '<key>': `0x${HEX}`, '<address>': `0x${HEX.slice(24)}`, '<secret>': HEX, '<password>': HEX };
const filled = () =>
  Object.fromEntries(Object.entries(example).map(([name, value]) => [name, FILLED[value] ?? value.replace(/<\w+>/, 'x')]));
const required = Object.entries(SETTINGS).flatMap(([name, setting]) => ('requiredOnRealChain' in setting ? [name] : []));

describe('the settings of docs/OPERATE.md', () => {
  it('start a real chain', () => {
    const config = loadConfig(filled());
    expect(config).toMatchObject({ chainMode: 'real', FEEDS: 'live', TRUST_PROXY: ['loopback'] });
    expect(config.MONGODB_URI).toContain('replicaSet=rs0&authSource=admin');
  });

  it.each([...required, 'FACILITATOR_PRIVATE_KEY'])('have %s, without which it does not start', (name) => {
    const { [name]: value, ...others } = filled();
    expect(value).toBeDefined();
    expect(() => loadConfig(others)).toThrow(`Setting ${name}: is required`);
  });

  it('are settings, but for what Node itself reads', () => {
    const unknown = Object.keys(example).filter((name) => !(name in SETTINGS));
    expect(unknown).toEqual(['NODE_ENV']);
  });
});

/** What the code says, as it stands in its files: texts with values in them are cut there. */
const sources = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(resolve(ROOT, 'src', path), 'utf8'))
  .join('\n');

describe('the runbook', () => {
  const rows = text.split('<!-- runbook -->')[1].split('<!-- /runbook -->')[0].trim().split('\n').slice(2);
  const words = rows.flatMap((row) => [...row.split('|')[1].matchAll(/`([^`]+)`/g)].map(([, span]) => span));

  it('quotes what the service says', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(words.length).toBeGreaterThan(rows.length);
    for (const fragment of words.flatMap((span) => span.split('…')).map((part) => part.trim())) {
      expect(sources, fragment).toContain(fragment);
    }
  });

  it('says of each what it means and what to do', () => {
    for (const row of rows)
      expect(
        row
          .split('|')
          .map((cell) => cell.trim())
          .filter(Boolean),
        row,
      ).toHaveLength(3);
  });
});

it('names settings and error codes that there are', () => {
  const others = ['NODE_ENV', 'SERVICE_URL', 'BACKUP_URI'];
  const named = new Set([...text.matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)].map(([name]) => name));
  expect(named.size).toBeGreaterThan(30);
  for (const name of named) expect(name in SETTINGS || name in ERROR_CODES || others.includes(name), name).toBe(true);
});

it('names fields of the status that there are', () => {
  for (const name of [
    'checks',
    'schedule',
    'nextRunAt',
    'steps',
    'forecasts',
    'wagering',
    'providers',
    'clockSkewMs',
    'overdue',
    'codeVersion',
  ]) {
    expect(text).toContain(name);
    expect(sources).toMatch(new RegExp(`\\b${name}\\b`));
  }
});
