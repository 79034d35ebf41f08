import { defineConfig } from 'vitest/config';

const project = (name: string, testTimeout: number, fileParallelism: boolean) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout,
    hookTimeout: testTimeout,
    fileParallelism,
  },
});

export default defineConfig({
  test: {
    projects: [
      project('unit', 30_000, true),
      project('integration', 60_000, true),
      project('e2e', 240_000, false),
      project('slow', 240_000, false),
    ],
    coverage: { include: ['src/**/*.ts', 'skills/**/*.ts', 'agent-card/**/*.ts'] },
  },
});
