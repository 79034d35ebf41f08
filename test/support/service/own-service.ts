import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { linkEngineCache } from '../database/engine.ts';
import { removeFolder } from '../docs/folders.ts';
import { type RunningService, startService } from './running-service.ts';
import { spawnNode } from './service.ts';

export interface OwnService {
  dataDir(): string;
  environment(more?: Record<string, string>): Record<string, string>;
  start(more?: Record<string, string>): Promise<RunningService>;
  /** Ends it by a signal, and says how long that took, milliseconds. */
  stop(signal: 'SIGINT' | 'SIGTERM'): Promise<number>;
  /** What a start says that ends with code 1. */
  refused(more: Record<string, string>): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  get(path: string): Promise<any>;
}

/** For each test of a file a folder of its own, and at most one service on it, which replays `days` days. */
export function ownService(days: number): OwnService {
  let dataDir: string;
  let running: RunningService | undefined;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'oracle-e2e-'));
    await linkEngineCache(dataDir);
  });
  afterEach(async () => {
    running?.child.kill('SIGTERM');
    await running?.ended;
    running = undefined;
    await removeFolder(dataDir);
  });
  const environment = (more: Record<string, string> = {}) => ({ DATA_DIR: dataDir, REPLAY_DAYS: String(days), ...more });
  return {
    dataDir: () => dataDir,
    environment,
    async start(more = {}) {
      running = await startService(environment(more));
      return running;
    },
    async stop(signal) {
      const began = performance.now();
      running!.child.kill(signal);
      expect(await running!.ended).toMatchObject({ code: 0 });
      return performance.now() - began;
    },
    async refused(more) {
      const { code, output } = await spawnNode(['bin/start.mjs'], environment({ PORT: '0', FEEDS: 'simulated', ...more })).ended;
      expect(code, output).toBe(1);
      return output;
    },
    async get(path) {
      const response = await fetch(`${running!.url}${path}`);
      expect(response.status, path).toBe(200);
      return response.json();
    },
  };
}
