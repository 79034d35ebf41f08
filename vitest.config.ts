import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

// Each suite starts hosts of the database and the chain, and they all compile the same modules.
process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, 'node_modules/.cache/node-compile');

/** A machine that does other work at the same time sets more than 1. */
const TIMEOUT_FACTOR = Number(process.env.TEST_TIMEOUT_FACTOR ?? 1);

/** Suites that may serve the page. */
const SERVING = new Set(['integration', 'page', 'e2e', 'conformance', 'slow', 'deploy', 'packages', 'frameworks']);

/** `isolate: false`: the files of a worker share its process and its loaded modules, which saves more than a second of CPU a file. */
const project = (name: string, testTimeout: number, fileParallelism: boolean, isolate = true) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    // As in every process of the service (bin/lib/compilers.mjs).
    execArgv: ['--no-maglev'],
    testTimeout: testTimeout * TIMEOUT_FACTOR,
    hookTimeout: testTimeout * TIMEOUT_FACTOR,
    expect: { poll: { timeout: 5_000 * TIMEOUT_FACTOR } },
    fileParallelism,
    isolate,
    globalSetup: SERVING.has(name) ? ['test/support/service/build-page.ts', 'test/support/database/engine.ts'] : [],
    setupFiles: ['test/support/network/outbound-guard.ts', ...(isolate ? [] : ['test/support/service/fresh-process.ts'])],
  },
});

export default defineConfig({
  test: {
    // One more than cores: a worker waits a quarter of its time for a database, a chain, a socket or a process that ends.
    maxWorkers: availableParallelism() + 1,
    projects: [
      project('unit', 30_000, true, false),
      project('integration', 60_000, true, false),
      project('page', 60_000, true),
      project('e2e', 240_000, true),
      project('conformance', 60_000, true, false),
      project('slow', 240_000, false),
      project('deploy', 240_000, false),
      project('packages', 240_000, false),
      project('frameworks', 60_000, false),
    ],
  },
});
