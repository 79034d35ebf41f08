import { isOracleError, OracleError, reasonOf } from '../../errors.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import { newestDueDay, SELF_TEST_STEPS, type SelfTestStep, selfTestId, selfTestInstant } from '../../record/self-test/due.ts';
import { RESULT_FORMAT, SELF_TESTS, type SelfTestDoc, type SelfTestName } from '../../record/self-test/self-test.ts';
import { type SelfTestRun, stands } from '../../record/self-test/store.ts';
import type { PipelineParts, StepContext } from '../parts.ts';
import { isLateFor } from '../times.ts';
import { computeDue, isComputed } from './computed-tests.ts';
import { RECORDED_TESTS } from './recorded-tests.ts';

/** What a run came to, as it goes into the store. */
export type Finding = Pick<
  SelfTestDoc,
  'test' | 'verdict' | 'result' | 'dataDigest' | 'firstDay' | 'lastDay' | 'replayed' | 'seed' | 'durationMs'
> & {
  /** Why it could not be run, or null. */
  reason: string | null;
};

/** The tests that a step runs. */
export function testsOf(step: SelfTestStep): SelfTestName[] {
  return SELF_TESTS.filter((test) => SELF_TEST_STEPS[test] === step);
}

/** The newest day that a step of self-tests was due on. */
export async function dueDayOf({ market }: Pick<PipelineParts, 'market'>, step: SelfTestStep, now: Date): Promise<Day> {
  return newestDueDay(step, now.getTime(), (await market.coverage()).lastDay);
}

/**
 * Runs the tests of a step for the newest day that it was due on, and returns those that it ran: a test that this very code has run on
 * this very data is not run again. Those of the record first: they wait for nothing.
 * @throws OracleError PRICE_UNAVAILABLE and the like while history is missing, INTERNAL when a test could not be run, and as
 * `TrustedTime.reach`
 */
export async function selfTestStep(parts: PipelineParts, step: SelfTestStep, { now, time }: StepContext): Promise<SelfTestName[]> {
  const day = await dueDayOf(parts, step, now);
  await time.reach(selfTestInstant(step, day), `The ${step} of ${formatDay(day)}`);
  const runs = [...(await runRecorded(parts, step, now)), ...(await runComputed(parts, step, now))];
  const failed = runs.find(({ state }) => state === 'failed');
  if (failed !== undefined) throw new OracleError('INTERNAL', failed.reason ?? 'A self-test could not be run');
  return runs.map(({ test }) => test);
}

/** Runs what a step computes from the history alone; for callers of the same process at the same time once. Errors as `selfTestStep`. */
export async function runComputed(parts: PipelineParts, step: SelfTestStep, now: Date): Promise<SelfTestRun[]> {
  const day = await dueDayOf(parts, step, now);
  return parts.selfTests.turns.run(selfTestId(testsOf(step)[0], day), () => {
    const findings = computeDue(parts, { tests: testsOf(step).filter(isComputed), day, now });
    return keepAll(parts, { step, day, now }, findings);
  });
}

async function runRecorded(parts: PipelineParts, step: SelfTestStep, now: Date): Promise<SelfTestRun[]> {
  const day = await dueDayOf(parts, step, now);
  return keepAll(parts, { step, day, now }, recordedDue(parts, { step, day, now }));
}

async function* recordedDue(parts: PipelineParts, { step, day, now }: DueRun): AsyncGenerator<Finding> {
  const { store, codeVersion } = parts.selfTests;
  for (const test of testsOf(step)) {
    if (isComputed(test)) continue;
    const standing = await store.of(test, day);
    if (standing !== null && stands(standing, { codeVersion, dataDigest: null, format: RESULT_FORMAT })) continue;
    yield await recorded(parts, test, { day, now });
  }
}

async function recorded(parts: PipelineParts, test: keyof typeof RECORDED_TESTS, { day, now }: { day: Day; now: Date }): Promise<Finding> {
  const started = performance.now();
  const ground = { test, dataDigest: null, firstDay: null, lastDay: null, seed: null, replayed: false };
  const durationMs = () => Math.round(performance.now() - started);
  try {
    return { ...ground, ...(await RECORDED_TESTS[test](parts, day, now)), reason: null, durationMs: durationMs() };
  } catch (error) {
    if (isOracleError(error) && error.retryable) throw error;
    parts.log.error({ err: error, test }, 'self-test failed');
    return { ...ground, verdict: null, result: null, reason: reasonOf(error), durationMs: durationMs() };
  }
}

interface DueRun {
  step: SelfTestStep;
  day: Day;
  now: Date;
}

/** Keeps each finding when it is there, and returns how the runs went: one that failed has failed, also where a result before it stands. */
async function keepAll({ selfTests, market }: PipelineParts, due: DueRun, findings: AsyncIterable<Finding>): Promise<SelfTestRun[]> {
  const runs: SelfTestRun[] = [];
  for await (const finding of findings) {
    const isFirst = (await selfTests.store.newest(finding.test)) === null;
    const doc: SelfTestDoc = {
      ...finding,
      ...runOf(finding, due, isFirst),
      codeVersion: selfTests.codeVersion,
      source: market.source,
      simulated: market.kind === 'simulated',
    };
    const standing = await selfTests.store.keep(doc);
    runs.push(standing.failure === null ? standing : doc);
  }
  return runs;
}

/** Before the first run of a test nothing was promised that it could be late for. */
function runOf({ test, reason }: Finding, { step, day, now }: DueRun, isFirst: boolean) {
  const dueMs = selfTestInstant(step, day);
  const times = { dueAt: new Date(dueMs), ranAt: now, firstRanAt: now, late: !isFirst && isLateFor(dueMs, now) };
  const state = reason === null ? ('done' as const) : ('failed' as const);
  return { _id: selfTestId(test, day), day, ...times, state, failure: null, format: RESULT_FORMAT };
}
