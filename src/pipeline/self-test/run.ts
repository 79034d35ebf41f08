import { isOracleError, messageOf, OracleError } from '../../errors.ts';
import type { Day } from '../../forecast/day.ts';
import { newestDueDay, SELF_TEST_STEPS, type SelfTestStep, selfTestId, selfTestInstant } from '../../record/self-test/due.ts';
import { SELF_TESTS, type SelfTestDoc, type SelfTestName } from '../../record/self-test/self-test.ts';
import type { SelfTestRun } from '../../record/self-test/store.ts';
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
 * @throws OracleError PRICE_UNAVAILABLE and the like while history is missing, INTERNAL when a test could not be run
 */
export async function selfTestStep(parts: PipelineParts, step: SelfTestStep, { now }: StepContext): Promise<SelfTestName[]> {
  const runs = [...(await runRecorded(parts, step, now)), ...(await runComputed(parts, step, now))];
  const failed = runs.find(({ state }) => state === 'failed');
  if (failed !== undefined) throw new OracleError('INTERNAL', failed.reason ?? 'A self-test could not be run');
  return runs.map(({ test }) => test);
}

/** Runs what a step computes from the history alone; for callers of the same process at the same time once. Errors as `selfTestStep`. */
export async function runComputed(parts: PipelineParts, step: SelfTestStep, now: Date): Promise<SelfTestRun[]> {
  const day = await dueDayOf(parts, step, now);
  return parts.selfTests.turns.run(selfTestId(testsOf(step)[0], day), async () => {
    const findings = await computeDue(parts, { tests: testsOf(step).filter(isComputed), day, now });
    return keepAll(parts, { step, day, now }, findings);
  });
}

async function runRecorded(parts: PipelineParts, step: SelfTestStep, now: Date): Promise<SelfTestRun[]> {
  const day = await dueDayOf(parts, step, now);
  const findings: Finding[] = [];
  for (const test of testsOf(step)) {
    if (isComputed(test)) continue;
    const standing = await parts.selfTests.store.of(test, day);
    if (standing?.state === 'done' && standing.codeVersion === parts.selfTests.codeVersion) continue;
    findings.push(await recorded(parts, test, { day, now }));
  }
  return keepAll(parts, { step, day, now }, findings);
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
    return { ...ground, verdict: null, result: null, reason: messageOf(error), durationMs: durationMs() };
  }
}

interface DueRun {
  step: SelfTestStep;
  day: Day;
  now: Date;
}

async function keepAll(parts: PipelineParts, { step, day, now }: DueRun, findings: readonly Finding[]): Promise<SelfTestRun[]> {
  const dueMs = selfTestInstant(step, day);
  const runs: SelfTestRun[] = [];
  for (const finding of findings) {
    const doc: SelfTestDoc = {
      ...finding,
      _id: selfTestId(finding.test, day),
      day,
      dueAt: new Date(dueMs),
      ranAt: now,
      late: isLateFor(dueMs, now),
      state: finding.reason === null ? 'done' : 'failed',
      codeVersion: parts.selfTests.codeVersion,
      source: parts.market.source,
      simulated: parts.market.kind === 'simulated',
    };
    runs.push(await parts.selfTests.store.keep(doc));
  }
  return runs;
}
