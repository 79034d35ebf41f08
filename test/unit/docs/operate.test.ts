import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import packageJson from '../../../package.json' with { type: 'json' };
import { loadConfig } from '../../../src/config.ts';
import { ERROR_CODES } from '../../../src/errors.ts';
import { SELF_TEST_STATUS_REPLY } from '../../../src/http/routes/self-tests.ts';
import { STATUS } from '../../../src/http/schemas/health.ts';
import { toInlineJsonSchema } from '../../../src/platform/validation.ts';
import { LATEST_ATTESTATION } from '../../../src/record/schemas/verification.ts';
import { SETTINGS, SIGNER_ROLES } from '../../../src/settings.ts';
import { documentText, ROOT } from '../../support/docs/documents.ts';

const text = documentText('docs/OPERATE.md');
const scripts: Record<string, string> = packageJson.scripts;

/** An answer with every member of its schema. */
// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
function sampleOf(schema: any): any {
  if (schema.properties) return Object.fromEntries(Object.entries(schema.properties).map(([name, member]) => [name, sampleOf(member)]));
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }: { type: string }) => type !== 'null'));
  if (schema.additionalProperties?.type) return { VOID: sampleOf(schema.additionalProperties) };
  return schema.type === 'array' ? [sampleOf(schema.items)] : (schema.enum?.[0] ?? null);
}
const answerOf = (reply: z.ZodType) => sampleOf(toInlineJsonSchema(reply, { unrepresentable: 'any', io: 'output' }));

/** The block of a kind whose first line names it. */
const block = (kind: string, name: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${kind}\\n(.*?)\`\`\``, 'gs'))]
    .map(([, content]) => content)
    .find((content) => content.includes(name))!;

const example = parseEnv(block('ini', '# /etc/oracle.env')) as Record<string, string>;
/** As if it were random. */
const secretOf = (name: string) => createHash('sha256').update(name).digest('hex');
const FILLED: Record<string, (name: string) => string> = {
  '<address>': (name) => `0x${secretOf(name).slice(24)}`,
  '<secret>': secretOf,
  '<password>': secretOf,
  '<key>': (name) => `0x${secretOf(name)}`,
};
const filled = () =>
  Object.fromEntries(Object.entries(example).map(([name, value]) => [name, FILLED[value]?.(name) ?? value.replace(/<\w+>/, 'x')]));
const required = Object.entries(SETTINGS).flatMap(([name, setting]) => ('requiredOnRealChain' in setting ? [name] : []));

describe('the settings of docs/OPERATE.md', () => {
  it('start a real chain', () => {
    const config = loadConfig(filled());
    expect(config).toMatchObject({ chainMode: 'real', FEEDS: 'live', TRUST_PROXY: ['loopback'] });
    expect(config.MONGODB_URI).toContain('replicaSet=rs0&authSource=admin');
  });

  it.each([...required, ...SIGNER_ROLES.map((role) => `${role}_PRIVATE_KEY`)])('have %s, without which it does not start', (name) => {
    const { [name]: value, ...others } = filled();
    expect(value).toBeDefined();
    expect(() => loadConfig(others)).toThrow(`Setting ${name}: is required`);
  });

  it('are settings, but for what Node itself reads', () => {
    const unknown = Object.keys(example).filter((name) => !(name in SETTINGS));
    expect(unknown).toEqual(['NODE_ENV']);
  });
});

/** What the code says, as it stands in its files without their comments: texts with values in them are cut there. */
const sources = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(resolve(ROOT, 'src', path), 'utf8'))
  .join('\n')
  .replaceAll(/^\s*\/\*.*?\*\/|(?<=^|\s)\/\/ [^\n]*$/gms, '');

const spansOf = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, span]) => span);

/** Shorter ones are found by chance. */
const TELLING = 12;

/** A short text has to be all of a message, a code, a field or a command. */
const isWhole = (word: string) => word in scripts || new RegExp(`['\`]${word}['\`]|\\b${word}\\??:`).test(sources);

/** Rows of the table of a section. */
const tableOf = (section: string) =>
  text
    .split(`\n## ${section}\n`)[1]
    .split('\n## ')[0]
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2);

describe('the runbook', () => {
  const rows = tableOf('Runbook');
  const words = rows.flatMap((row) => spansOf(row.split('|')[1]));

  it('quotes what the service says', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(words.length).toBeGreaterThan(rows.length);
    for (const span of words) {
      const fragments = span.split('…').map((part) => part.trim());
      if (fragments.some(({ length }) => length >= TELLING)) for (const fragment of fragments) expect(sources, span).toContain(fragment);
      else expect(isWhole(span), span).toBe(true);
    }
  });

  it('says of each what it means, what to do and which alert shows it', () => {
    for (const row of rows)
      expect(
        row
          .split('|')
          .map((cell) => cell.trim())
          .filter(Boolean),
        row,
      ).toHaveLength(4);
  });
});

it('names settings and error codes that there are', () => {
  const others = [
    'NODE_ENV',
    'SERVICE_URL',
    'BACKUP_URI',
    'MALLOC_ARENA_MAX',
    'ECC_SECG_P256K1',
    'SIGN_VERIFY',
    'NODE_PATH',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ];
  const named = new Set([...text.matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)].map(([name]) => name));
  expect(named.size).toBeGreaterThan(30);
  const isSetting = (name: string) => name in SETTINGS || name.replace(/_FILE$/, '') in SETTINGS;
  for (const name of named) expect(isSetting(name) || name in ERROR_CODES || others.includes(name), name).toBe(true);
});

describe('what to watch', () => {
  const rows = text
    .split('## What to watch\n')[1]
    .split('\n## ')[0]
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((row) => row.split('|'))
    .map(([, ask = '', , alarm = '']) => ({ ask, alarm }));
  const alarmOf = (words: string) => spansOf(rows.find(({ ask }) => ask.includes(words))!.alarm);
  const [status, selfTests, latest] = [STATUS, SELF_TEST_STATUS_REPLY, LATEST_ATTESTATION].map(answerOf);

  it('is where the status has it', () => {
    const asked = rows.filter(({ ask }) => /\/api\/status|the same/.test(ask)).flatMap(({ ask }) => spansOf(ask.split(': ')[1]));
    expect(asked).toEqual(['schedule', 'steps', 'record.forecasts.VOID', 'wallets']);
    for (const path of asked) expect(status).toHaveProperty(path);
    const [field, job] = alarmOf('`schedule`');
    const [state, ...words] = alarmOf('`steps`');
    expect(status.schedule[0]).toHaveProperty(field);
    expect(status.steps[0]).toHaveProperty(state);
    for (const funds of alarmOf('`wallets`')) expect(status.wallets[0]).toHaveProperty(funds);
    expect(words).toHaveLength(4);
    for (const word of [job, ...words]) expect(isWhole(word), word).toBe(true);
  });

  it('is that of readiness, self-tests and attestations', () => {
    const [checks, ...names] = alarmOf('GET /ready');
    const [recorded] = status[checks];
    expect(recorded).toHaveProperty('name');
    expect(names).toHaveLength(7);
    for (const name of names) expect(isWhole(name), name).toBe(true);
    expect(selfTests).toHaveProperty(alarmOf('GET /api/self-test/status').at(-1)!);
    expect(latest.data).toHaveProperty(alarmOf('onchain-oracle/latest')[0]);
  });

  it('names the other fields of the answers as they are', () => {
    for (const path of ['market.providers', 'wagering']) {
      expect(status).toHaveProperty(path);
      expect(text).toContain(`\`${path.split('.').at(-1)}\``);
    }
    for (const name of ['clockSkewMs', 'codeVersion']) {
      expect(text).toContain(`\`${name}\``);
      expect(isWhole(name), name).toBe(true);
    }
  });
});
