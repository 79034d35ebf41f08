import { OracleError } from '../errors.ts';
import { type Day, dayOf, formatDay } from '../forecast/day.ts';
import { liveContext, type PipelineParts } from './parts.ts';
import type { StepName } from './step-runs.ts';
import { runStep, type StepReport } from './steps.ts';
import { type DayStepName, stepInstant } from './times.ts';

/** Steps that are about one day; the others do what the clock and the record ask for. */
export const DAY_STEPS: readonly string[] = ['signal', 'wager', 'brief'] satisfies StepName[];

export interface StepByHand {
  step: StepName;
  /** Unset: today. */
  day?: Day | undefined;
  now: Date;
}

/**
 * Runs a step, or runs it again, because somebody wants it now. What is done stays done, as with every other run.
 * @throws OracleError INPUT_INVALID naming `day` when the step takes none or there is nothing to do for that one; CONFLICT before the
 * step's time.
 */
export async function runByHand(parts: PipelineParts, { step, day, now }: StepByHand): Promise<StepReport> {
  const today = dayOf(now.getTime());
  if (day !== undefined) await checkDay(parts, step, day, today);
  const of = day ?? today;
  requireTime(step, of, now);
  return { step, day: of, outcome: await runStep(parts, step, of, liveContext(parts, now)) };
}

async function checkDay({ record }: PipelineParts, step: StepName, day: Day, today: Day): Promise<void> {
  if (!DAY_STEPS.includes(step)) throw wrongDay(`${step} takes no day: it does what is due now`);
  if (day > today) throw wrongDay(`${formatDay(day)} lies ahead`);
  const genesis = await record.genesis();
  if (genesis !== null && day < genesis) throw wrongDay(`the record begins with ${formatDay(genesis)}`);
}

function wrongDay(problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `"day": ${problem}`, { field: 'day' });
}

/** What is made before its time would be the day's for good. */
function requireTime(step: StepName, day: Day, now: Date): void {
  const dueMs = dueAt(step, day, now.getTime());
  if (dueMs === null || now.getTime() >= dueMs) return;
  const due = new Date(dueMs).toISOString();
  throw new OracleError('CONFLICT', `It is too early: ${step} of ${formatDay(day)} is due at ${due}`, {
    suggestedAction: 'Wait for its time; until then the schedule needs no help.',
    details: { dueAt: due },
  });
}

/** When a step may run, in milliseconds since 1970; null for one that has no time of its own. */
function dueAt(step: StepName, day: Day, nowMs: number): number | null {
  if (DAY_STEPS.includes(step)) return stepInstant(step as DayStepName, day);
  // What an earlier day has left over may be committed at any time but between the day's forecast and its own commitment.
  return step === 'attest' && nowMs >= stepInstant('signal', day) ? stepInstant('attest', day) : null;
}
