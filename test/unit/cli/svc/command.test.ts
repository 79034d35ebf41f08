import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { resolveToken } from '../../../../src/cli/svc/command.ts';
import type { CliContext } from '../../../../src/cli/svc/context.ts';

const folder = mkdtempSync(join(tmpdir(), 'oracle-token-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'token');
const resolve = (environment: CliContext['environment'], token?: string) =>
  resolveToken({ environment } as CliContext, 'http://127.0.0.1:3000', token);

it('takes the token from the file of ORACLE_TOKEN_FILE, unless an option names one', async () => {
  writeFileSync(path, 'a.b.c\n');
  expect(await resolve({ ORACLE_TOKEN_FILE: path })).toBe('a.b.c');
  expect(await resolve({ ORACLE_TOKEN_FILE: path }, 'd.e.f')).toBe('d.e.f');
});

it.each([
  [{ ORACLE_TOKEN: 'a.b.c', ORACLE_TOKEN_FILE: path }, 'ORACLE_TOKEN', 'ORACLE_TOKEN_FILE'],
  [{ ORACLE_TOKEN_FILE: folder }, 'ORACLE_TOKEN_FILE', 'cannot be read (EISDIR)'],
])('rejects %j, naming what to correct', async (environment, field, words) => {
  await expect(resolve(environment)).rejects.toMatchObject({ field, message: expect.stringContaining(words) });
});
