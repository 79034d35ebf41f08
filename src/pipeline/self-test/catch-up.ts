import { type Day, toDay } from '../../forecast/day.ts';
import { getErrorMessage, isOracleError } from '../../platform/errors.ts';
import type { SelfTestStep } from '../../record/self-test/due-times.ts';
import { RESULT_FORMAT } from '../../record/self-test/self-test-doc.ts';
import { getSelfTestFailure, type SelfTestRun } from '../../record/self-test/store.ts';
import type { PipelineDeps, StepContext } from '../deps.ts';
import { runStep, type StepReport } from '../step-registry.ts';
import { isComputed, readTestHistory } from './computed-tests.ts';
import { getDueDay, listTestsOfStep, runComputedTests } from './run-self-tests.ts';

const SELF_TEST_STEP_NAMES = ['backtest', 'diagnostics'] as const satisfies SelfTestStep[];

const RETRY_MS = 3_600_000;

/** Runs due self-tests without a result. With nothing due it costs a few reads. */
export async function catchUpSelfTests(deps: PipelineDeps, context: StepContext): Promise<StepReport[]> {
  const today = toDay(context.now.getTime());
  const reports: StepReport[] = [];
  for (const step of SELF_TEST_STEP_NAMES) {
    if (await hasDueTests(deps, step, context.now)) {
      reports.push({ step, day: today, outcome: await runStep(deps, step, today, context) });
    }
  }
  return reports;
}

/** Computes due self-tests that need no record while a replay runs. Failures are logged; the step retries and reports them. */
export async function prepareSelfTests(deps: PipelineDeps, now: Date): Promise<void> {
  for (const step of SELF_TEST_STEP_NAMES) {
    try {
      if ((await deps.time.findDisagreement()) !== null) return;
      if (await hasDueTests(deps, step, now)) await runComputedTests(deps, step, now);
    } catch (error) {
      deps.log.info({ step, reason: getErrorMessage(error) }, 'self-tests are not computed yet');
    }
  }
}

async function hasDueTests(deps: PipelineDeps, step: SelfTestStep, now: Date): Promise<boolean> {
  const day = await getDueDay(deps, step, now);
  const runs = await Promise.all(listTestsOfStep(step).map((test) => deps.selfTests.store.findRun(test, day)));
  if (runs.some((run) => run === null || isStale(deps, run, now))) return true;
  return isOfChangedData(deps, runs as SelfTestRun[], { day, now });
}

/** Results of other code count only from before this process started: two versions side by side would replace each other's forever. */
function isStale({ selfTests: { codeVersion, startedAt } }: PipelineDeps, run: SelfTestRun, now: Date): boolean {
  const failure = getSelfTestFailure(run);
  const isOurs = failure?.codeVersion === codeVersion;
  const isOfOtherCode = run.codeVersion !== codeVersion || run.format !== RESULT_FORMAT;
  if (isOfOtherCode && !isOurs && run.ranAt < startedAt) return true;
  return failure !== null && (isOurs || run.state === 'failed') && failure.at.getTime() <= now.getTime() - RETRY_MS;
}

/** Whether the files of an ended feed were corrected since the last run: no newer due day would detect it. */
async function isOfChangedData(deps: PipelineDeps, runs: readonly SelfTestRun[], { day, now }: { day: Day; now: Date }): Promise<boolean> {
  const { market, selfTests } = deps;
  if ((await market.coverage()).lastDay === null) return false;
  const older = runs.filter(({ test, failure, ranAt }) => isComputed(test) && failure === null && ranAt < selfTests.startedAt);
  if (older.length === 0) return false;
  try {
    const { digest } = await readTestHistory(deps, day, now);
    return older.some(({ dataDigest }) => dataDigest !== digest);
  } catch (error) {
    // Unreadable history counts as changed; the step reports the error.
    if (isOracleError(error)) return true;
    throw error;
  }
}
