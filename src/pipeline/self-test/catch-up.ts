import { isOracleError, messageOf } from '../../errors.ts';
import { type Day, dayOf } from '../../forecast/day.ts';
import type { SelfTestStep } from '../../record/self-test/due.ts';
import { RESULT_FORMAT } from '../../record/self-test/self-test.ts';
import { failureOf, type SelfTestRun } from '../../record/self-test/store.ts';
import type { PipelineParts, StepContext } from '../parts.ts';
import { runStep, type StepReport } from '../steps.ts';
import { historyOf, isComputed } from './computed-tests.ts';
import { dueDayOf, runComputed, testsOf } from './run.ts';

const STEPS = ['backtest', 'diagnostics'] as const satisfies SelfTestStep[];

/** What could not be run is tried again after this. */
const RETRY_MS = 3_600_000;

/** Runs the self-tests that are due and have no result, for whatever reason. Nothing to do costs a few reads. */
export async function catchUpSelfTests(parts: PipelineParts, context: StepContext): Promise<StepReport[]> {
  const today = dayOf(context.now.getTime());
  const reports: StepReport[] = [];
  for (const step of STEPS) {
    if (await isOverdue(parts, step, context.now)) {
      reports.push({ step, day: today, outcome: await runStep(parts, step, today, context) });
    }
  }
  return reports;
}

/**
 * Computes what is due and needs no record, so that it is there when a replay of the past is done. What fails here the step will say,
 * which tries it again.
 */
export async function prepareSelfTests(parts: PipelineParts, now: Date): Promise<void> {
  for (const step of STEPS) {
    try {
      if ((await parts.time.disagreement()) !== null) return;
      if (await isOverdue(parts, step, now)) await runComputed(parts, step, now);
    } catch (error) {
      parts.log.info({ step, reason: messageOf(error) }, 'self-tests are not computed yet');
    }
  }
}

async function isOverdue(parts: PipelineParts, step: SelfTestStep, now: Date): Promise<boolean> {
  const day = await dueDayOf(parts, step, now);
  const runs = await Promise.all(testsOf(step).map((test) => parts.selfTests.store.of(test, day)));
  if (runs.some((run) => run === null || isStale(parts, run, now))) return true;
  return isOfOtherData(parts, runs as SelfTestRun[], { day, now });
}

/**
 * What has failed is tried again after a while. Of other code only what was made before this process began is made anew: two versions
 * side by side would take turns for ever.
 */
function isStale({ selfTests: { codeVersion, startedAt } }: PipelineParts, run: SelfTestRun, now: Date): boolean {
  const failure = failureOf(run);
  const isOurs = failure?.codeVersion === codeVersion;
  const isOfOtherCode = run.codeVersion !== codeVersion || run.format !== RESULT_FORMAT;
  if (isOfOtherCode && !isOurs && run.ranAt < startedAt) return true;
  return failure !== null && (isOurs || run.state === 'failed') && failure.at.getTime() <= now.getTime() - RETRY_MS;
}

/** Whether files that have ended were corrected before this process read them: nothing newer comes due that would find it. */
async function isOfOtherData(parts: PipelineParts, runs: readonly SelfTestRun[], { day, now }: { day: Day; now: Date }): Promise<boolean> {
  const { market, selfTests } = parts;
  if ((await market.coverage()).lastDay === null) return false;
  const older = runs.filter(({ test, failure, ranAt }) => isComputed(test) && failure === null && ranAt < selfTests.startedAt);
  if (older.length === 0) return false;
  try {
    const { digest } = await historyOf(parts, day, now);
    return older.some(({ dataDigest }) => dataDigest !== digest);
  } catch (error) {
    // What cannot be read any more is other data: the step will say why.
    if (isOracleError(error)) return true;
    throw error;
  }
}
