import type { Day } from '../../../src/forecast/day.ts';
import { createLiveContext } from '../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { settledWager } from '../../integration/pipeline/steps/wager-fixtures.ts';
import { serveJobs } from '../commerce/served-jobs.ts';
import { runSelfTestsShortly } from './self-tests.ts';
import { runPastDay, type TestService, testService, today, unresolvedService } from './service.ts';

const DAYS = 20;

/** A service that has something to say on every path: a record with its newest forecasts unresolved, an outcome reported, reports, a round. */
export async function fullService(): Promise<TestService> {
  const service = await testService(DAYS, { PUSH_LOCAL_TARGETS: 'allow' });
  for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  await service.pipeline.wagers.wagers.insertOne({ ...settledWager(today() - 30, 'WIN'), payoutMicros: 10_000_000 });
  serveJobs(service);
  return upToDate(service);
}

/** A service whose forecasts are all on chain, and none of them resolved. */
export async function youngService(): Promise<TestService> {
  return upToDate(await unresolvedService(3));
}

/** A service before its first forecast. */
export async function emptyService(): Promise<TestService> {
  return upToDate(await testService(0));
}

/** What the jobs of a running service would have done by now; where something is missing for it, it waits. */
async function upToDate(service: TestService): Promise<TestService> {
  const now = new Date();
  // Today's brief is not due before 03:00: yesterday's is there at any time.
  const steps: [StepName, Day][] = [
    ['reputation', today()],
    ['weekly-report', today()],
    ['brief', today() - 1],
    ['brief', today()],
  ];
  for (const [step, day] of steps) {
    const outcome = await runStep(service.pipeline, step, day, createLiveContext(service.pipeline, now));
    if ('failed' in outcome) throw new Error(`${step} failed: ${outcome.failed}`);
  }
  await runSelfTestsShortly(service, now);
  await service.http.contest.run();
  service.progress.complete();
  return service;
}
