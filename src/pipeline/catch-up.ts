import { type Day, toDay } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { PipelineDeps, StepContext } from './deps.ts';
import { getStepDueMs } from './schedule/step-times.ts';
import { runOutcomeCheck, runStep, type StepReport, tryRefreshFigures } from './step-registry.ts';
import type { StepName, StepOutcome } from './step-run-store.ts';
import { listDueBriefs } from './steps/brief.ts';
import { listDueWeeks } from './steps/weekly-report.ts';

/** Runs every step that is due and not done, in order, and then refreshes the figures. With nothing due it costs a few reads. */
export async function catchUp(deps: PipelineDeps, context: StepContext): Promise<StepReport[]> {
  const reports = await runDueSteps(deps, { ...context, refreshesLater: true });
  // Steps that are held back change nothing.
  if (reports.some(({ outcome }) => !('waiting' in outcome))) await tryRefreshFigures(deps, context.now);
  return reports;
}

async function runDueSteps(deps: PipelineDeps, context: StepContext): Promise<StepReport[]> {
  const today = toDay(context.now.getTime());
  const reports: StepReport[] = [];
  const run = async (step: StepName, day: Day): Promise<StepOutcome> => {
    const outcome = await runStep(deps, step, day, context);
    reports.push({ step, day, outcome });
    return outcome;
  };
  for (const day of await listDueDays(deps, context)) {
    // The sequence has no gaps: a day that is not done blocks the later ones.
    if (!('done' in (await run('signal', day)))) break;
  }
  if (mayAttest(context, today) && (await deps.record.listUnattestedDays()).length > 0) await run('attest', today);
  for (const day of await listWagerDays(deps, context)) await run('wager', day);
  reports.push(...(await runOutcomeCheck(deps, context)));
  if ((await listDueWeeks(deps, context)).length > 0) await run('weekly-report', today);
  for (const day of await listDueBriefs(deps, context)) await run('brief', day);
  return reports;
}

async function listDueDays(deps: PipelineDeps, context: StepContext): Promise<Day[]> {
  const today = toDay(context.now.getTime());
  const lastDue = context.now.getTime() >= getStepDueMs('signal', today) ? today : today - 1;
  const { lastDay } = await deps.market.coverage();
  const last = Math.min(lastDue, lastDay ?? lastDue);
  const recorded = await deps.record.findLastDay();
  // An empty record starts at the first open day, or at the genesis day that a killed process claimed before its first write.
  const first = recorded === null ? ((await deps.record.findGenesisDay()) ?? today) : await findFirstUnwrittenDay(deps, recorded);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** The last day itself when a crash left some of its forecasts unwritten. */
async function findFirstUnwrittenDay({ record }: PipelineDeps, lastDay: Day): Promise<Day> {
  return (await record.listByDay(lastDay)).length < HORIZONS.length ? lastDay : lastDay + 1;
}

/** Between the signal and its commitment there is no backlog: the `attest` job has its own time. */
function mayAttest({ now }: StepContext, today: Day): boolean {
  return now.getTime() < getStepDueMs('signal', today) || now.getTime() >= getStepDueMs('attest', today);
}

/** Upper bound of days looked back at: after a longer outage, earlier days get no wager. */
const MAX_UNDECIDED_DAYS = 31;

/** Days whose wager is undecided or unplaced: those since the newest wager once due, and those that a crash left in `DECIDED`. */
async function listWagerDays({ record, wagers }: PipelineDeps, { now }: StepContext): Promise<Day[]> {
  const recorded = await record.findLastDay();
  const unplaced = await wagers.listUnplacedDays();
  if (recorded === null) return unplaced;
  const last = now.getTime() < getStepDueMs('wager', recorded) ? recorded - 1 : recorded;
  const newest = await wagers.findNewestDay();
  const first = newest === null ? recorded : Math.max(newest + 1, last - MAX_UNDECIDED_DAYS + 1);
  return [...unplaced, ...Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)];
}
