import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { WATCHED_MESSAGES } from '../../../src/ops/metric-definitions.ts';
import { createLog, createLogCounts } from '../../../src/platform/log.ts';
import { ROOT } from '../../support/docs/documents.ts';

const sources = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('tools/') && !path.endsWith('watched-messages.ts'))
  .map((path) => readFileSync(resolve(ROOT, 'src', path), 'utf8'));

it.each(WATCHED_MESSAGES)('"%s" is what the code logs', (message) => {
  expect(sources.some((source) => source.includes(`'${message}'`))).toBe(true);
});

it('counts watched messages by their text, with and without fields, and no others', () => {
  const [watched, other] = WATCHED_MESSAGES;
  const counts = createLogCounts([watched, other]);
  const log = createLog({ level: 'warn', secrets: [], counts, write: () => undefined });
  log.warn({ day: 1 }, watched);
  log.warn(watched);
  log.warn('toString');
  expect(counts.messages).toEqual({ [watched]: 2, [other]: 0 });
  expect(counts.levels).toEqual({ warn: 3, error: 0, fatal: 0 });
});
