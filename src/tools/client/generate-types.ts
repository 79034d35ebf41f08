import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { buildClientDocument } from './client-document.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const GENERATOR = join(ROOT, 'bin/dev/openapi-typescript');

export const TYPES_FILE = join(ROOT, 'clients/typescript/generated/openapi.ts');

/** Writes the types of clients/typescript by openapi-typescript, which has to be installed in bin/dev/openapi-typescript. */
export function generateTypes(): void {
  const folder = mkdtempSync(join(tmpdir(), 'oracle-types-'));
  try {
    const document = join(folder, 'openapi.json');
    writeFileSync(document, JSON.stringify(buildClientDocument()));
    mkdirSync(dirname(TYPES_FILE), { recursive: true });
    runGenerator(folder, [document, '--output', TYPES_FILE, '--default-non-nullable', 'false']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The hook brings the JavaScript API of TypeScript, which TypeScript 7 does not have. A folder of its own has no redocly.yaml. */
function runGenerator(cwd: string, words: readonly string[]): void {
  const hook = join(GENERATOR, 'typescript-api.mjs');
  const cli = join(GENERATOR, 'node_modules/openapi-typescript/bin/cli.js');
  execFileSync(process.execPath, ['--import', hook, cli, ...words], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { NO_COLOR: '1' },
  });
}
