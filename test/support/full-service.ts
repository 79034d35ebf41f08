import { runStep } from '../../src/pipeline/steps.ts';
import { settledWager } from '../integration/pipeline/wager-docs.ts';
import { runPastDay, type TestService, testService, today, unresolvedService } from './service.ts';

const DAYS = 20;

/** A service that has something to say on every path: a record with its newest forecasts unresolved, an outcome reported, reports, a round. */
export async function fullService(): Promise<TestService> {
  const service = await testService(DAYS);
  for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.setTimeToNow();
  await service.pipeline.wagers.wagers.insertOne({ ...settledWager(today() - 30, 'WIN'), payoutMicros: 10_000_000 });
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
  for (const step of ['reputation', 'weekly-report', 'brief'] as const) {
    const outcome = await runStep(service.pipeline, step, today(), { now, replayed: false });
    if ('failed' in outcome) throw new Error(`${step} failed: ${outcome.failed}`);
  }
  await service.http.contest.run();
  service.state.setup = null;
  return service;
}
