import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../../..');

/** Names and health, without values. */
const WITHOUT_VALUES = ['archive-series.ts', 'archive-report.ts'];

it('no transport, skill, report or model imports stored values of the archive', () => {
  const files = globSync('{skills,agent-card,src/{transports,record,events,commerce,pipeline,forecast,contest}}/**/*.ts', { cwd: ROOT });
  expect(files.length).toBeGreaterThan(400);
  const imported = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/market\/archive\/([\w/-]+\.ts)/g)].map(([, module]) => ({ file, module })),
  );
  expect(imported.filter(({ module }) => !WITHOUT_VALUES.includes(module))).toEqual([]);
});
