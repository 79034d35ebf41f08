import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PipelineContext } from '../../../src/pipeline/forecaster.ts';
import { type Schedule, startSchedule } from '../../../src/pipeline/schedule.ts';
import { createLog } from '../../../src/platform/log.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
const schedules: Schedule[] = [];
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  for (const schedule of schedules) await schedule.drain(5_000);
  await database.drop();
});

describe('a lock', () => {
  const jobs = () => database.db.collection('jobs');
  /** A schedule with one job of its own name beside those of the day. */
  async function startWith(name: string, run: () => Promise<void>): Promise<void> {
    const log = createLog({ level: 'silent', secrets: [] });
    const deps = { time: { findDisagreement: async () => null } } as PipelineContext;
    const own = { [name]: { cron: '0 0 1 1 *', run } };
    schedules.push(await startSchedule({ db: database.db, deps, jobs: own, log, now: () => new Date() }));
  }
  const lock = (name: string, agoMs: number) =>
    jobs().updateOne({ name }, { $set: { nextRunAt: new Date(Date.now() - 60_000), lockedAt: new Date(Date.now() - agoMs) } });

  it('of a worker that died is taken over within a minute, and not before another one may still hold it', async () => {
    let runs = 0;
    await startWith('taken-over', async () => void runs++);
    await lock('taken-over', 30_000);
    // Two polls of Agenda.
    await delay(11_000);
    expect(runs).toBe(0);
    await lock('taken-over', 46_000);
    await expect.poll(() => runs, { timeout: 12_000 }).toBe(1);
  }, 40_000);

  it('is renewed while its job runs', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await startWith('long', () => ended);
    await jobs().updateOne({ name: 'long' }, { $set: { nextRunAt: new Date() } });
    const lockedAt = async () => (await jobs().findOne({ name: 'long' }))!.lockedAt?.getTime() ?? 0;
    await expect.poll(lockedAt, { timeout: 12_000 }).toBeGreaterThan(0);
    const first = await lockedAt();
    await expect.poll(lockedAt, { timeout: 15_000 }).toBeGreaterThan(first + 5_000);
    end();
  }, 40_000);
});
