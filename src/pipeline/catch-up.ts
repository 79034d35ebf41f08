import { type Day, dayOf } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { dueBriefs } from './brief.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import type { StepName, StepOutcome } from './step-runs.ts';
import { runOutcomeCheck, runStep, type StepReport } from './steps.ts';
import { stepInstant } from './times.ts';
import { dueWeeks } from './weekly-report.ts';

/**
 * Runs everything that is due and not done: days of an outage enter the record in their order, what is not on chain is committed,
 * an undecided or unplaced wager is taken up, the outcome check runs, and missing reports are written. Nothing to do costs a few reads.
 */
export async function catchUp(parts: PipelineParts, context: StepContext): Promise<StepReport[]> {
  const today = dayOf(context.now.getTime());
  const reports: StepReport[] = [];
  const run = async (step: StepName, day: Day): Promise<StepOutcome> => {
    const outcome = await runStep(parts, step, day, context);
    reports.push({ step, day, outcome });
    return outcome;
  };
  for (const day of await dueDays(parts, context)) {
    // Days follow each other without a gap: behind a day that is not done, the later ones wait too.
    if (!('done' in (await run('signal', day)))) break;
  }
  if (mayAttest(context, today) && (await parts.record.unattestedDays()).length > 0) await run('attest', today);
  for (const day of await wagerDays(parts, context)) await run('wager', day);
  reports.push(...(await runOutcomeCheck(parts, context)));
  if ((await dueWeeks(parts, context)).length > 0) await run('weekly-report', today);
  for (const day of await dueBriefs(parts, context)) await run('brief', day);
  return reports;
}

/** Days whose signal time has come and that the record does not hold, oldest first, as far as the market data reaches. */
async function dueDays(parts: PipelineParts, context: StepContext): Promise<Day[]> {
  const today = dayOf(context.now.getTime());
  const lastDue = context.now.getTime() >= stepInstant('signal', today) ? today : today - 1;
  const { lastDay } = await parts.market.coverage();
  const last = Math.min(lastDue, lastDay ?? lastDue);
  const recorded = await parts.record.lastDay();
  // Before the first forecast there is nothing to miss: the record begins with the first day that is still open, or with the one
  // that was claimed as its first by a process that was killed before it had written it.
  const first = recorded === null ? ((await parts.record.genesis()) ?? today) : await firstUnwritten(parts, recorded);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** The last day of the record itself where a process was killed before it had written all of its forecasts. */
async function firstUnwritten({ record }: PipelineParts, lastDay: Day): Promise<Day> {
  return (await record.forecastsOf(lastDay)).length < HORIZONS.length ? lastDay : lastDay + 1;
}

/** Between the day's signal and its commitment there is nothing to catch up with: the commitment has its own time. */
function mayAttest({ now }: StepContext, today: Day): boolean {
  return now.getTime() < stepInstant('signal', today) || now.getTime() >= stepInstant('attest', today);
}

/** Days without a wager that are looked back at: a service that was off for longer begins with its last ones. */
const MAX_UNDECIDED_DAYS = 31;

/** Days whose wager is not decided or not placed: those of the record since the newest wager once it is time, and any that a crash left behind. */
async function wagerDays({ record, wagers }: PipelineParts, { now }: StepContext): Promise<Day[]> {
  const recorded = await record.lastDay();
  const unplaced = await wagers.unplacedDays();
  if (recorded === null) return unplaced;
  const last = now.getTime() < stepInstant('wager', recorded) ? recorded - 1 : recorded;
  const newest = await wagers.newestDay();
  const first = newest === null ? recorded : Math.max(newest + 1, last - MAX_UNDECIDED_DAYS + 1);
  return [...unplaced, ...Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)];
}
