import { vi } from 'vitest';

/** Runs before each test file: with `isolate: false` the files of a worker share a process, and a file that failed may leave these. */
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllEnvs();
vi.unstubAllGlobals();
