import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assembleService, type Service } from '../../../../src/app/app.ts';
import { loadConfig } from '../../../../src/config.ts';
import { replayDays } from '../../../../src/dev/replay.ts';
import { createLog, createLogCounts } from '../../../../src/platform/log.ts';
import { createStartupProgress } from '../../../../src/platform/progress.ts';
import { createShutdown } from '../../../../src/platform/shutdown.ts';
import { linkEngineCache } from '../../../support/database/engine.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

const DAYS = 1;

let dataDir: string;
let running: Service | undefined;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oracle-interrupted-'));
  await linkEngineCache(dataDir);
});
afterEach(async () => {
  await running?.shutdown.stop('the test is over');
  running = undefined;
  await removeFolder(dataDir);
});

/** All parts on the test's folder; stopped when the start comes to `stopAt`, as by a signal. */
async function start(stopAt?: string, days = DAYS): Promise<Service | null> {
  const config = loadConfig({ DATA_DIR: dataDir, FEEDS: 'simulated', REPLAY_DAYS: String(days) });
  const log = createLog({ level: 'silent', secrets: [] });
  const shutdown = createShutdown({ log });
  const setup = createStartupProgress();
  const stopped = new Error('stopped here');
  const watched: typeof setup = {
    ...setup,
    startStep(what) {
      if (what === stopAt) throw stopped;
    },
  };
  try {
    running = await assembleService({ config, log, logCounts: createLogCounts(), shutdown, progress: watched }, 'http://127.0.0.1:3000');
    return running;
  } catch (error) {
    await shutdown.stop('interrupted');
    if (error !== stopped) throw error;
    return null;
  }
}

function replayed({ database, pipeline, infrastructure, range }: Service) {
  const { signal } = new AbortController();
  return replayDays({ db: database.db, pipeline: pipeline, range, chain: infrastructure.localChain!, onProgress: () => {}, signal });
}

describe('an interrupted first start', () => {
  it('is continued by the next one, wherever it was: it comes to a later step each time', async () => {
    for (const stopAt of ['deploying contracts', 'connecting to database and chain', 'registering the agent', 'assembling the service'])
      expect(await start(stopAt), stopAt).toBeNull();
    const service = (await start())!;
    expect(await replayed(service)).toEqual(service.range);
    expect(await service.pipeline.record.days.countDocuments({ replayed: true })).toBe(DAYS);
  });

  it('that was for fewer days replays what its chain can date', async () => {
    expect(await start('connecting to database and chain', 2)).toBeNull();
    const service = (await start(undefined, 5))!;
    const { range } = service;
    expect(await replayed(service)).toEqual({ from: range!.to - 1, to: range!.to });
    expect(await service.pipeline.record.days.countDocuments({ replayed: true })).toBe(2);
  });

  it('without a history is gone on with by one that has one, which replays nothing', async () => {
    const first = (await start(undefined, 0))!;
    await first.shutdown.stop('over');
    const service = (await start())!;
    expect(await replayed(service)).toBeNull();
    expect(await service.database.db.collection('replay').countDocuments()).toBe(0);
    expect(await service.pipeline.record.findLastDay()).toBeNull();
  });
});
