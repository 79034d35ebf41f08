import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { formatDay } from '../../../../src/forecast/day.ts';
import { getStepDueMs, type PipelineContext } from '../../../../src/pipeline/forecaster.ts';
import { type Schedule, STEP_JOBS, startSchedule } from '../../../../src/pipeline/schedule.ts';
import { timeAt } from '../../../support/clock/trusted-time.ts';
import { runPastDay, type TestService, testService, today } from '../../../support/service/service.ts';

let service: TestService;
const schedules: Schedule[] = [];

beforeAll(async () => {
  // A time zone in which a job without an explicit zone would run hours off.
  vi.stubEnv('TZ', 'America/New_York');
  service = await testService(2);
  await runPastDay(service, today() - 2);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  for (const schedule of schedules) await schedule.drain(5_000);
  await service.stop();
});

/** Moves the clock of jobs to a time of yesterday. */
async function start(ms: number): Promise<Schedule> {
  const { database, pipeline, log } = service;
  const deps = { ...pipeline, time: timeAt(ms) };
  const schedule = await startSchedule({ db: database.db, deps, log, now: () => new Date(ms) });
  schedules.push(schedule);
  return schedule;
}

it('runs each job at its time in UTC, once for all workers', async () => {
  const yesterdayEvening = getStepDueMs('attest', today() - 1);
  await service.infrastructure.localChain!.setNextBlockTime(yesterdayEvening);
  const first = await start(yesterdayEvening);
  await start(yesterdayEvening);

  const runs = await first.listNextRuns();
  expect(runs.map(({ job }) => job).sort()).toEqual(Object.keys(STEP_JOBS).sort());
  const timeOf = (name: string) =>
    runs
      .find(({ job }) => job === name)!
      .nextRunAt!.toISOString()
      .slice(11, 16);
  expect(timeOf('brief')).toBe('03:00');
  expect(timeOf('weekly-report')).toBe('00:30');
  expect(runs.find(({ job }) => job === 'weekly-report')!.nextRunAt!.getUTCDay()).toBe(1);
  expect(timeOf('signal')).toBe('21:35');
  expect(timeOf('attest')).toBe('21:38');
  expect(timeOf('wager')).toBe('21:42');
  expect(['00:00', '06:00', '12:00', '18:00']).toContain(timeOf('outcome-check'));

  // Once due, any worker takes the job: yesterday gets its forecasts, on chain before the window opens.
  await service.database.db.collection('jobs').updateOne({ name: 'catch-up' }, { $set: { nextRunAt: new Date() } });
  const { record, attester } = service.pipeline;
  for (;;) {
    const docs = await record.listByDay(today() - 1);
    if (docs.length > 0 && docs.every(({ state }) => state !== 'DRAFT')) break;
    await delay(50);
  }
  for (const doc of await record.listByDay(today() - 1)) expect(doc, formatDay(doc.day)).toMatchObject({ state: 'PENDING', missed: false });
  const found = await service.http.attestations.find({ schema: 'prediction', attester: attester.address, fromBlock: 0 });
  expect(found).toHaveLength(2 * 4);
});

describe('a worker whose clock disagrees', () => {
  const CRON = '0 0 1 1 *';
  const jobs = () => service.database.db.collection('jobs');
  /** A schedule with one job of its own name, whose clock the test controls. */
  async function startWith(name: string, clock: { disagreement: string | null }, run: () => Promise<void>): Promise<Schedule> {
    const deps = { time: { findDisagreement: async () => clock.disagreement } } as PipelineContext;
    const { database, log } = service;
    const own = { [name]: { cron: CRON, run } };
    const schedule = await startSchedule({ db: database.db, deps, jobs: own, log, now: () => new Date(), clockCheckIntervalMs: 20 });
    schedules.push(schedule);
    return schedule;
  }

  it('runs and writes no job until the clocks agree, stops on disagreement, and resumes afterwards', async () => {
    const clock: { disagreement: string | null } = { disagreement: 'two days ahead' };
    const ran = vi.fn(async () => undefined);
    const schedule = await startWith('late', clock, ran);
    expect(await schedule.getRunningStats(false)).toBeNull();
    expect(await jobs().countDocuments({ name: 'late' })).toBe(0);

    clock.disagreement = null;
    await expect.poll(() => schedule.getRunningStats(false)).not.toBeNull();
    await jobs().updateOne({ name: 'late' }, { $set: { nextRunAt: new Date() } });
    await expect.poll(() => ran.mock.calls.length, { timeout: 20_000 }).toBe(1);

    clock.disagreement = 'two days behind';
    await expect.poll(() => schedule.getRunningStats(false)).toBeNull();
    clock.disagreement = null;
    await expect.poll(() => schedule.getRunningStats(false)).not.toBeNull();
  });

  it.each<[string, (name: string) => Promise<unknown>]>([
    ['has no next run', (name) => jobs().updateOne({ name }, { $set: { nextRunAt: null } })],
    ['has lost the field of it', (name) => jobs().updateOne({ name }, { $unset: { nextRunAt: 1 } })],
    ['is gone', (name) => jobs().deleteOne({ name })],
  ])('schedules a job again that %s', async (what, damage) => {
    const name = `unscheduled: ${what}`;
    await startWith(name, { disagreement: null }, async () => undefined);
    const { nextRunAt } = (await jobs().findOne({ name }))!;
    expect(nextRunAt).toBeInstanceOf(Date);
    await damage(name);
    await expect.poll(async () => (await jobs().findOne({ name }))?.nextRunAt).toEqual(nextRunAt);
    expect(await jobs().countDocuments({ name })).toBe(1);
  });

  it('leaves a job alone that an operator has disabled', async () => {
    for (const name of ['disabled', 'witness']) await startWith(name, { disagreement: null }, async () => undefined);
    await jobs().updateOne({ name: 'disabled' }, { $set: { nextRunAt: null, disabled: true } });
    // Each schedule looks after its own job; twice repaired, each has looked once more.
    const repaired = async (name: string, nextRunAt: Date | null) => {
      await jobs().updateOne({ name }, { $set: { nextRunAt } });
      await expect.poll(async () => (await jobs().findOne({ name }))?.nextRunAt?.getFullYear()).toBeLessThan(2_100);
    };
    for (let round = 0; round < 3; round++) await repaired('witness', new Date('2100-01-01'));
    expect(await jobs().findOne({ name: 'disabled' })).toMatchObject({ nextRunAt: null, disabled: true });
    await jobs().updateOne({ name: 'disabled' }, { $set: { disabled: false } });
    await repaired('disabled', null);
  });

  it('leaves no future lock or next run to the workers with correct clocks', async () => {
    const clock = { disagreement: null };
    await startWith('put-off', clock, async () => undefined);
    const { nextRunAt } = (await jobs().findOne({ name: 'put-off' }))!;
    const ahead = new Date(Date.now() + 2 * 86_400_000);
    await jobs().updateOne({ name: 'put-off' }, { $set: { nextRunAt: new Date('2100-01-01'), lockedAt: ahead } });
    await expect.poll(async () => (await jobs().findOne({ name: 'put-off' }))!.nextRunAt).toEqual(nextRunAt);
    await expect.poll(async () => (await jobs().findOne({ name: 'put-off' }))!.lockedAt?.getTime() ?? 0).toBeLessThan(Date.now() + 1_000);
  });
});
