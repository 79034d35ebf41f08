import { defineConfig } from 'vitest/config';

/** `isolate`: every file in a process of its own. What keeps no state needs none, and its modules are loaded once. */
const project = (name: string, testTimeout: number, fileParallelism: boolean, isolate = true) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout,
    hookTimeout: testTimeout,
    fileParallelism,
    isolate,
  },
});

export default defineConfig({
  test: {
    // All cores: most suites wait for a database, a chain or a socket. One fewer takes half as long again on two.
    maxWorkers: '100%',
    projects: [
      project('unit', 30_000, true, false),
      project('integration', 60_000, true),
      project('page', 60_000, true),
      project('e2e', 240_000, true),
      project('slow', 240_000, false),
    ],
    coverage: { include: ['src/**/*.ts', 'skills/**/*.ts', 'agent-card/**/*.ts'] },
  },
});
