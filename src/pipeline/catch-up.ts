import { type Day, toDay } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { PipelineDeps, StepContext } from './deps.ts';
import { getStepDueMs } from './schedule/step-times.ts';
import { runOutcomeCheck, runStep, type StepReport } from './step-registry.ts';
import type { StepName, StepOutcome } from './step-run-store.ts';
import { listDueBriefs } from './steps/brief.ts';
import { listDueWeeks } from './steps/weekly-report.ts';

/**
 * Runs everything that is due and not done: days of an outage enter the record in their order, what is not on chain is committed,
 * an undecided or unplaced wager is taken up, the outcome check runs, and missing reports are written. Nothing to do costs a few reads.
 */
export async function catchUp(deps: PipelineDeps, context: StepContext): Promise<StepReport[]> {
  const today = toDay(context.now.getTime());
  const reports: StepReport[] = [];
  const run = async (step: StepName, day: Day): Promise<StepOutcome> => {
    const outcome = await runStep(deps, step, day, context);
    reports.push({ step, day, outcome });
    return outcome;
  };
  for (const day of await listDueDays(deps, context)) {
    // Days follow each other without a gap: behind a day that is not done, the later ones wait too.
    if (!('done' in (await run('signal', day)))) break;
  }
  if (mayAttest(context, today) && (await deps.record.listUnattestedDays()).length > 0) await run('attest', today);
  for (const day of await listWagerDays(deps, context)) await run('wager', day);
  reports.push(...(await runOutcomeCheck(deps, context)));
  if ((await listDueWeeks(deps, context)).length > 0) await run('weekly-report', today);
  for (const day of await listDueBriefs(deps, context)) await run('brief', day);
  return reports;
}

/** Days whose signal time has come and that the record does not hold, oldest first, as far as the market data reaches. */
async function listDueDays(deps: PipelineDeps, context: StepContext): Promise<Day[]> {
  const today = toDay(context.now.getTime());
  const lastDue = context.now.getTime() >= getStepDueMs('signal', today) ? today : today - 1;
  const { lastDay } = await deps.market.coverage();
  const last = Math.min(lastDue, lastDay ?? lastDue);
  const recorded = await deps.record.findLastDay();
  // Before the first forecast there is nothing to miss: the record begins with the first day that is still open, or with the one
  // that was claimed as its first by a process that was killed before it had written it.
  const first = recorded === null ? ((await deps.record.findGenesisDay()) ?? today) : await findFirstUnwrittenDay(deps, recorded);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** The last day of the record itself where a process was killed before it had written all of its forecasts. */
async function findFirstUnwrittenDay({ record }: PipelineDeps, lastDay: Day): Promise<Day> {
  return (await record.listByDay(lastDay)).length < HORIZONS.length ? lastDay : lastDay + 1;
}

/** Between the day's signal and its commitment there is nothing to catch up with: the commitment has its own time. */
function mayAttest({ now }: StepContext, today: Day): boolean {
  return now.getTime() < getStepDueMs('signal', today) || now.getTime() >= getStepDueMs('attest', today);
}

/** Days without a wager that are looked back at: a service that was off for longer begins with its last ones. */
const MAX_UNDECIDED_DAYS = 31;

/** Days whose wager is not decided or not placed: those of the record since the newest wager once it is time, and any that a crash left behind. */
async function listWagerDays({ record, wagers }: PipelineDeps, { now }: StepContext): Promise<Day[]> {
  const recorded = await record.findLastDay();
  const unplaced = await wagers.listUnplacedDays();
  if (recorded === null) return unplaced;
  const last = now.getTime() < getStepDueMs('wager', recorded) ? recorded - 1 : recorded;
  const newest = await wagers.findNewestDay();
  const first = newest === null ? recorded : Math.max(newest + 1, last - MAX_UNDECIDED_DAYS + 1);
  return [...unplaced, ...Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)];
}
