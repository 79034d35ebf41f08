import { expect, vi } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { Resolution } from '../../../src/record/forecast-doc.ts';
import { settledWager } from '../../integration/pipeline/steps/wager-fixtures.ts';
import { contextAt, followProcessClock, REACHED } from '../clock/trusted-time.ts';
import { serveOneJob } from '../commerce/served-jobs.ts';
import { runSelfTestsShortly } from './self-tests.ts';
import { runPastDay, type TestService, testService } from './service.ts';

const DAYS = 14;

/** A Thursday: a round of the contest is over, one runs, and one is open. The forecasts of the day are there, their window is not open. */
export const TODAY = parseDay('2026-03-12');
export const NOW = toInstantMs(TODAY, 22);

/** The days whose forecasts were due and not resolved: late. */
const LATE_DAYS = 2;

/** A service with forecasts that are resolved, not yet begun, open, late, void, and decided but not revealed. Sets the clock to `NOW`. */
export async function untoldService(): Promise<TestService> {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const service = await testService(DAYS);
  followProcessClock(service);
  for (let day = TODAY - DAYS; day < TODAY; day++) await live(service, day);
  vi.setSystemTime(NOW);
  await runPastDay(service, TODAY, []);
  await service.infrastructure.localChain!.setNextBlockTime(NOW);
  await decideUnrevealed(service);
  await makeVoid(service);
  await reportOutcome(service);
  await serveOneJob(service);
  await runSelfTestsShortly(service, new Date(NOW));
  service.progress.complete();
  return service;
}

/** One day of the service, at its own date. On the last days nothing is resolved. */
async function live(service: TestService, day: number): Promise<void> {
  vi.setSystemTime(toInstantMs(day, 21, 35));
  await runPastDay(service, day, day < TODAY - LATE_DAYS ? OUTCOME_STEPS : ['open-window', 'settle']);
  vi.setSystemTime(toInstantMs(day + 1, 0, 10));
  await service.http.contest.run();
}

/** One of the late forecasts is decided, and its reveal is not on chain yet. */
async function decideUnrevealed(service: TestService): Promise<void> {
  const [late] = await service.pipeline.record.listDueForResolution(new Date(NOW));
  const closes = { btcAtSignalCents: late.btcAtSignalCents!, btcAtResolutionCents: late.btcAtSignalCents! + 100_000, returnBps: 137 };
  const decided: Resolution = {
    ...closes,
    ...{ actualDirection: 'UP', outcome: 'WIN', venues: ['test'], deviationBps: 0, decidedAt: new Date(NOW), batch: 'of nobody' },
  };
  await service.pipeline.record.recordResolutions(new Map([[late._id, decided]]), REACHED);
}

/** One forecast was committed too late to count: its window is open. */
async function makeVoid(service: TestService): Promise<void> {
  const { forecasts } = service.pipeline.record;
  const { modifiedCount } = await forecasts.updateOne({ _id: `${formatDay(TODAY - 2)}:7d` }, { $set: { state: 'VOID' } });
  expect(modifiedCount).toBe(1);
}

/** The outcome of a wager that everybody may know is in the reputation registry. */
async function reportOutcome(service: TestService): Promise<void> {
  await service.pipeline.wagers.wagers.insertOne(settledWager(TODAY - 40, 'WIN'));
  expect(await runStep(service.pipeline, 'reputation', TODAY, contextAt(NOW))).toHaveProperty('done');
}
