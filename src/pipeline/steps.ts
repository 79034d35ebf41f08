import { type Day, dayOf, formatDay } from '../forecast/day.ts';
import type { Brief } from '../record/briefs/brief.ts';
import type { DayDoc } from '../record/day-record.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import { attestStep } from './attest.ts';
import { briefStep } from './brief.ts';
import { openWindowStep } from './open-window.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { reputationStep } from './reputation.ts';
import { resolveStep } from './resolve.ts';
import { selfTestStep } from './self-test/run.ts';
import { settleStep } from './settle.ts';
import { signalStep } from './signal.ts';
import type { StepName, StepOutcome } from './step-runs.ts';
import { wagerStep } from './wager.ts';
import { weeklyReportStep } from './weekly-report.ts';

/** Does a step's work and says in words what came of it. */
type Step = (parts: PipelineParts, day: Day, context: StepContext) => Promise<string>;

/** Every step by name, in the order in which a day runs them. All but signal, wager and brief look at the clock and the record, not at the day. */
export const STEPS: Record<StepName, Step> = {
  signal: async (parts, day, context) => describeDay(await signalStep(parts, day, context)),
  attest: async (parts, _day, context) => listOr('committed', (await attestStep(parts, context)).map(formatDay)),
  wager: async (parts, day, context) => describeWager(await wagerStep(parts, day, context)),
  'open-window': async (parts, _day, context) => countOr('closes at window open recorded', await openWindowStep(parts, context)),
  resolve: async (parts, _day, context) => countOr('forecasts resolved', await resolveStep(parts, context)),
  settle: async (parts, _day, context) => countOr('wagers settled', await settleStep(parts, context)),
  reputation: async (parts, _day, context) => countOr('outcomes reported', await reputationStep(parts, context)),
  brief: async (parts, day, context) => describeBrief(await briefStep(parts, day, context)),
  'weekly-report': async (parts, _day, context) => listOr('reported on', await weeklyReportStep(parts, context)),
  backtest: async (parts, _day, context) => listOr('ran', await selfTestStep(parts, 'backtest', context)),
  diagnostics: async (parts, _day, context) => listOr('ran', await selfTestStep(parts, 'diagnostics', context)),
};

export const STEP_NAMES = Object.keys(STEPS) as StepName[];

/** The steps of the outcome check, every six hours. */
export const OUTCOME_STEPS = ['open-window', 'resolve', 'settle', 'reputation'] as const satisfies StepName[];

/** An outcome with the step and day it belongs to. */
export interface StepReport {
  step: StepName;
  day: Day;
  outcome: StepOutcome;
}

/** Runs one step and records how it went. @throws OracleError DATABASE_UNAVAILABLE and the like, when not even that could be written. */
export async function runStep(parts: PipelineParts, step: StepName, day: Day, context: StepContext): Promise<StepOutcome> {
  const held = context.replayed ? null : ((await context.time.disagreement()) ?? (await parts.heldBack()));
  if (held !== null) return { waiting: held };
  const outcome = await parts.runs.run(step, day, context, () => STEPS[step](parts, day, context));
  if (!context.replayed) await tell(parts);
  return outcome;
}

/** What cannot be told now stands beside the change, and is told later. */
async function tell({ emit, log }: PipelineParts): Promise<void> {
  await emit().catch((error: unknown) => log.error({ err: error }, 'subscribers could not be told: trying again'));
}

/** Opens windows, resolves, settles and reports: what is due at the clock's time. A step that waits or fails does not hold up the others. */
export async function runOutcomeCheck(parts: PipelineParts, context: StepContext): Promise<StepReport[]> {
  const day = dayOf(context.now.getTime());
  const reports: StepReport[] = [];
  for (const step of OUTCOME_STEPS) reports.push({ step, day, outcome: await runStep(parts, step, day, context) });
  return reports;
}

function describeDay({ missedBecause, signalAt, late }: DayDoc): string {
  if (missedBecause !== null) return `missed: ${missedBecause}`;
  return `forecast at ${signalAt.toISOString()}${late ? ', late' : ''}`;
}

function describeWager(wager: WagerDoc | null): string {
  if (wager === null) return 'nothing decided: no forecast of that day, or new wagers are off or paused';
  return wager.skippedBecause === null ? wager.state : `${wager.state}: ${wager.skippedBecause}`;
}

function describeBrief({ generatedAt, late }: Brief): string {
  return `made at ${generatedAt}${late ? ', late' : ''}`;
}

function listOr(done: string, items: string[]): string {
  return items.length === 0 ? 'nothing to do' : `${done} ${items.join(', ')}`;
}

function countOr(done: string, count: number): string {
  return count === 0 ? 'nothing to do' : `${count} ${done}`;
}
