import { type Day, formatDay, toDay } from '../forecast/day.ts';
import { OracleError } from '../platform/errors.ts';
import { createLiveContext, type PipelineDeps } from './deps.ts';
import { type DayStepName, getStepDueMs } from './schedule/step-times.ts';
import { runStep } from './step-registry.ts';
import type { StepName } from './step-run-store.ts';

/** Steps that take a day; the others act on the clock and the record. */
export const SINGLE_DAY_STEPS: readonly string[] = ['signal', 'wager', 'brief'] satisfies StepName[];

/** By default for today; completed work is not repeated. @throws OracleError INPUT_INVALID naming `day`; CONFLICT before the due time */
export async function runStepManually(deps: PipelineDeps, { step, day, now }: { step: StepName; day?: Day | undefined; now: Date }) {
  const today = toDay(now.getTime());
  if (day !== undefined) await requireValidDay(deps, step, day, today);
  const of = day ?? today;
  requireDueTime(step, of, now);
  return { step, day: of, outcome: await runStep(deps, step, of, createLiveContext(deps, now)) };
}

async function requireValidDay({ record }: PipelineDeps, step: StepName, day: Day, today: Day): Promise<void> {
  if (!SINGLE_DAY_STEPS.includes(step)) throw invalidDayError(`${step} takes no day: it does what is due now`);
  if (day > today) throw invalidDayError(`${formatDay(day)} lies ahead`);
  const genesis = await record.findGenesisDay();
  if (genesis !== null && day < genesis) throw invalidDayError(`the record begins with ${formatDay(genesis)}`);
}

function invalidDayError(problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `"day": ${problem}`, { field: 'day' });
}

/** A result written before its due time would be final. */
function requireDueTime(step: StepName, day: Day, now: Date): void {
  const dueMs = findDueMs(step, day, now.getTime());
  if (dueMs === null || now.getTime() >= dueMs) return;
  const due = new Date(dueMs).toISOString();
  throw new OracleError('CONFLICT', `It is too early: ${step} of ${formatDay(day)} is due at ${due}`, {
    suggestedAction: 'Wait until then; the schedule runs the step by itself.',
    details: { dueAt: due },
  });
}

function findDueMs(step: StepName, day: Day, nowMs: number): number | null {
  if (SINGLE_DAY_STEPS.includes(step)) return getStepDueMs(step as DayStepName, day);
  // Leftovers of earlier days may be attested at any time except between today's signal and its commitment.
  return step === 'attest' && nowMs >= getStepDueMs('signal', day) ? getStepDueMs('attest', day) : null;
}
