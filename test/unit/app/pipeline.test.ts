import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { computeCodeVersion } from '../../../src/app/pipeline.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

it('equals the digest of the documented shell command', () => {
  const command = "find src/forecast -name '*.ts' | LC_ALL=C sort | xargs sha256sum | sha256sum";
  const printed = execFileSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8' });
  expect(computeCodeVersion('1.2.3')).toBe(`1.2.3+sha256:${printed.slice(0, 64)}`);
});
