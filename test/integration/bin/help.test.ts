import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { spawnNode } from '../../support/service/service.ts';

/** Biome's own help, and a module of the launchers. */
const OTHERS = ['bin/dev/biome.mjs', 'bin/require-node.mjs'];

describe('every launcher', () => {
  const launchers = globSync('bin/{*,dev/*,dev/client/*}.mjs')
    .filter((path) => !OTHERS.includes(path))
    .toSorted();

  it('prints help and starts nothing', async () => {
    const ended = await Promise.all(launchers.map(async (path) => ({ path, ...(await spawnNode([path, '--help'], {}).ended) })));
    for (const { path, code, output } of ended) expect([path, code, output]).toEqual([path, 0, expect.stringMatching(/^Usage: /m)]);
  });

  it('that starts the service rejects an unknown argument', async () => {
    expect(await spawnNode(['bin/start.mjs', '--chek'], {}).ended).toMatchObject({
      code: 2,
      output: expect.stringContaining('--chek is unknown'),
    });
  });
});
