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

/** Rows of the first table of a section, as cells. */
const tableOf = (section: string) =>
  text
    .split(`\n## ${section}\n`)[1]
    .split('\n## ')[0]
    .split('\n\n')
    .find((paragraph) => paragraph.startsWith('| '))!
    .split('\n')
    .slice(2)
    .map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));

describe('the table of alarms', () => {
  const rows = tableOf('When an alarm fires');

  it('quotes what the service says', () => {
    const words = rows.flatMap(([seen]) => spansOf(seen));
    expect(rows.length).toBeGreaterThan(25);
    expect(words.length).toBeGreaterThan(rows.length);
    for (const span of words) {
      const fragments = span.split('…').map((part) => part.trim());
      if (fragments.some(({ length }) => length >= TELLING)) for (const fragment of fragments) expect(sources, span).toContain(fragment);
      else expect(isWhole(span), span).toBe(true);
    }
  });

  it.each(rows)('says of %s which alert shows it, and what to do by which command, path or setting', (...cells) => {
    expect(cells).toHaveLength(3);
    expect(cells[1]).toMatch(/^(`Oracle\w+`(, )?)+$|^none: ./);
    const [, , todo] = cells;
    expect(todo.startsWith('nothing') || todo.startsWith('find its') || /`[^`]+`|\]\(/.test(todo), todo).toBe(true);
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

describe('what to ask every day', () => {
  const rows = tableOf('Every day').map(([ask, , wrong]) => ({ ask, wrong }));
  const wrongOf = (words: string) => spansOf(rows.find(({ ask }) => ask.includes(words))!.wrong);
  const [status, selfTests, latest] = [STATUS, SELF_TEST_STATUS_REPLY, LATEST_ATTESTATION].map(answerOf);

  it('is where the status has it', () => {
    const [next, job, schedule, state, steps, failed, voided, daysLeft, wallets] = wrongOf('/api/status');
    expect(status[schedule][0]).toHaveProperty(next);
    expect(status[steps][0]).toHaveProperty(state);
    expect(status).toHaveProperty(voided);
    expect(status[wallets][0]).toHaveProperty(daysLeft);
    for (const word of [job, failed]) expect(isWhole(word), word).toBe(true);
  });

  it('is that of readiness, self-tests and attestations', () => {
    const [checks, ...names] = wrongOf('/ready');
    expect(status[checks][0]).toHaveProperty('name');
    expect(names).toHaveLength(7);
    for (const name of names) expect(isWhole(name), name).toBe(true);
    expect(selfTests).toHaveProperty(wrongOf('/api/self-test/status').at(-1)!);
    expect(latest.data).toHaveProperty(wrongOf('onchain-oracle/latest')[0]);
  });
});
