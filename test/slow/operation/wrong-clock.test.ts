import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/forecast/day.ts';
import { createLiveContext } from '../../../src/pipeline/forecaster.ts';
import { catchUp, catchUpSelfTests } from '../../../src/pipeline/pipeline.ts';
import { startSchedule } from '../../../src/pipeline/schedule.ts';
import { recordState } from '../../support/record/record-state.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';
import { type TestService, today, unresolvedService } from '../../support/service/service.ts';

/** Several looks of Agenda and of what compares the clocks. */
const WATCHED_MS = 40_000;

let service: TestService;
const workers: RunningService[] = [];
beforeAll(async () => {
  service = await unresolvedService(10);
});
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGTERM');
  await Promise.all(workers.map(({ ended }) => ended));
  await service.stop();
});

/** Makes every clock of a Node process run so far ahead. */
function shiftedClock(aheadMs: number): string {
  const code = `const D=Date;globalThis.Date=class extends D{constructor(...a){if(a.length)super(...a);else super(D.now()+${aheadMs})}static now(){return D.now()+${aheadMs}}}`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/** A worker as its operator starts it, on the database and the chain of the service, with a wrong clock. */
async function startWorker(aheadMs: number): Promise<RunningService> {
  const { dataDir, infrastructure } = service;
  const worker = await startService({
    ...{ DATA_DIR: dataDir, ROLE: 'worker', NODE_OPTIONS: shiftedClock(aheadMs) },
    ...{ CHAIN_RPC_URL: infrastructure.rpcUrl, CHAIN_LOCAL: '1', MONGODB_URI: infrastructure.mongodbUri },
  });
  workers.push(worker);
  return worker;
}

it('workers two days ahead and two days behind change nothing, put off no job, and say why they are not ready', async () => {
  const { database, pipeline, log } = service;
  // What the correct worker's jobs would find to do within the minute, is done.
  await catchUp(pipeline, createLiveContext(pipeline, new Date()));
  await catchUpSelfTests(pipeline, createLiveContext(pipeline, new Date()));
  await service.http.contest.run();
  const schedule = await startSchedule({ db: database.db, deps: pipeline, log, now: () => new Date() });
  const before = await recordState(service);
  const [ahead, behind] = await Promise.all([startWorker(2 * DAY_MS), startWorker(-2 * DAY_MS)]);
  await delay(WATCHED_MS);
  for (const [worker, difference] of [
    [ahead, '2 d ahead of'],
    [behind, '2 d behind'],
  ] as const) {
    const response = await fetch(`${worker.url}/ready`);
    expect(response.status, difference).toBe(503);
    const detail = expect.stringContaining(`this process's clock is ${difference} the database's`);
    expect(((await response.json()) as { checks: object[] }).checks).toContainEqual({ name: 'clock', ok: false, detail });
  }
  // What the correct worker did meanwhile on its five minutes is written down as runs of its steps, and changes nothing else.
  expect({ ...(await recordState(service)), step_runs: null }).toEqual({ ...before, step_runs: null });
  expect(await pipeline.runs.listBetween(['signal', 'resolve', 'open-window'], today() + 1, today() + 9)).toEqual([]);
  for (const { job, nextRunAt } of await schedule.listNextRuns()) {
    expect(nextRunAt!.getTime(), job).toBeLessThan(Date.now() + 8 * DAY_MS);
    if (job === 'catch-up') expect(nextRunAt!.getTime()).toBeLessThan(Date.now() + 300_000);
  }
  await schedule.drain(5_000);
}, 180_000);
