import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readImports } from '../../../src/tools/lint.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Resources that are no answer of a skill: what they show, no skill has. */
const APART = [
  // The wiring, and types of it.
  'src/http/services.ts',
  // Reports, comparisons and files of the record as a whole.
  ...['briefs', 'challenge', 'dataset', 'feeds', 'info', 'self-tests'].map((name) => `src/http/routes/${name}.ts`),
  // The day of a forecast with each of its steps; intents and wagers; strikes of prediction markets.
  ...['copy-trade', 'forecasts', 'prediction-markets'].map((name) => `src/http/routes/${name}.ts`),
];

const importsOf = (file: string) =>
  readImports(readFileSync(join(ROOT, file), 'utf8')).flatMap(({ specifier }) =>
    specifier.startsWith('.') ? [posix.join(dirname(file), specifier)] : [],
  );

/** Forecasts, record and verification; schemas are the shape of answers. */
const isRecord = (target: string) => /^src\/(?:record\/(?!schemas\/)|verify\/|audit\/)/.test(target);

describe('a transport', () => {
  const files = ['src/http', 'src/a2a', 'src/mcp'].flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT })).sort();

  it('reaches forecasts, record and verification through the skills alone', () => {
    expect(files.length).toBeGreaterThan(60);
    const direct = files
      .filter((file) => !APART.includes(file))
      .flatMap((file) =>
        importsOf(file)
          .filter(isRecord)
          .map((to) => `${file} -> ${to}`),
      );
    expect(direct).toEqual([]);
  });

  it('is apart only while it needs to be', () => {
    expect(APART.filter((file) => !importsOf(file).some(isRecord))).toEqual([]);
  });
});
