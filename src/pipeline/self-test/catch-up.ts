import { messageOf } from '../../errors.ts';
import { dayOf } from '../../forecast/day.ts';
import type { SelfTestStep } from '../../record/self-test/due.ts';
import type { SelfTestRun } from '../../record/self-test/store.ts';
import type { PipelineParts, StepContext } from '../parts.ts';
import { runStep, type StepReport } from '../steps.ts';
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
      if (await isOverdue(parts, step, now)) await runComputed(parts, step, now);
    } catch (error) {
      parts.log.info({ step, reason: messageOf(error) }, 'self-tests are not computed yet');
    }
  }
}

async function isOverdue(parts: PipelineParts, step: SelfTestStep, now: Date): Promise<boolean> {
  const day = await dueDayOf(parts, step, now);
  const runs = await Promise.all(testsOf(step).map((test) => parts.selfTests.store.of(test, day)));
  return runs.some((run) => run === null || isStale(parts, run, now));
}

/** Of other code only what was found before this process began: two versions side by side would take turns for ever. */
function isStale({ selfTests }: PipelineParts, { state, ranAt, codeVersion }: SelfTestRun, now: Date): boolean {
  if (state === 'failed') return ranAt.getTime() <= now.getTime() - RETRY_MS;
  return codeVersion !== selfTests.codeVersion && ranAt < selfTests.startedAt;
}
