import { type Day, formatDay, toDay } from '../forecast/day.ts';
import { inSpan } from '../platform/tracing/span.ts';
import type { Brief } from '../record/briefs/compose.ts';
import type { DayDoc } from '../record/day-doc.ts';
import type { WagerDoc } from '../wager/wager-book.ts';
import type { PipelineDeps, StepContext } from './deps.ts';
import { runSelfTestStep } from './self-test/run-self-tests.ts';
import type { StepName, StepOutcome } from './step-run-store.ts';
import { runAttestStep } from './steps/attest.ts';
import { runBriefStep } from './steps/brief.ts';
import { runOpenWindowStep } from './steps/open-window.ts';
import { runReputationStep } from './steps/reputation.ts';
import { runResolveStep } from './steps/resolve.ts';
import { runSettleStep } from './steps/settle.ts';
import { runSignalStep } from './steps/signal.ts';
import { runWagerStep } from './steps/wager.ts';
import { runWeeklyReportStep } from './steps/weekly-report.ts';

type Step = (deps: PipelineDeps, day: Day, context: StepContext) => Promise<string>;

/** Every step by name, in the order of the day. Only signal, wager and brief use the day; the others act on the clock and the record. */
export const STEPS: Record<StepName, Step> = {
  signal: async (deps, day, context) => formatDayOutcome(await runSignalStep(deps, day, context)),
  attest: async (deps, _day, context) => formatList('committed', (await runAttestStep(deps, context)).map(formatDay)),
  wager: async (deps, day, context) => formatWagerOutcome(await runWagerStep(deps, day, context)),
  'open-window': async (deps, _day, context) => formatCount('closes at window open recorded', await runOpenWindowStep(deps, context)),
  resolve: async (deps, _day, context) => formatCount('forecasts resolved', await runResolveStep(deps, context)),
  settle: async (deps, _day, context) => formatCount('wagers settled', await runSettleStep(deps, context)),
  reputation: async (deps, _day, context) => formatCount('outcomes reported', await runReputationStep(deps, context)),
  brief: async (deps, day, context) => formatBriefOutcome(await runBriefStep(deps, day, context)),
  'weekly-report': async (deps, _day, context) => formatList('reported on', await runWeeklyReportStep(deps, context)),
  backtest: async (deps, _day, context) => formatList('ran', await runSelfTestStep(deps, 'backtest', context)),
  diagnostics: async (deps, _day, context) => formatList('ran', await runSelfTestStep(deps, 'diagnostics', context)),
};

export const STEP_NAMES = Object.keys(STEPS) as StepName[];

export const OUTCOME_STEPS = ['open-window', 'resolve', 'settle', 'reputation'] as const satisfies StepName[];

export interface StepReport {
  step: StepName;
  day: Day;
  outcome: StepOutcome;
}

/** Runs one step and records its outcome. @throws OracleError DATABASE_UNAVAILABLE and others when the outcome cannot be recorded */
export function runStep(deps: PipelineDeps, step: StepName, day: Day, context: StepContext): Promise<StepOutcome> {
  return inSpan({ name: `step ${step}` }, () => runStepInSpan(deps, step, day, context));
}

async function runStepInSpan(deps: PipelineDeps, step: StepName, day: Day, context: StepContext): Promise<StepOutcome> {
  const holdReason = context.replayed ? null : ((await context.time.findDisagreement(context.taken)) ?? (await deps.findHoldReason()));
  if (holdReason !== null) return { waiting: holdReason };
  const outcome = await deps.runs.runAndRecord(step, day, context, () => STEPS[step](deps, day, context));
  if (!context.replayed) {
    await tryPublishChanges(deps);
    if (context.refreshesLater !== true) await tryRefreshFigures(deps, context.now);
  }
  return outcome;
}

/** After publishing, which advances revisions. Without a day, or on failure, the first reader computes the figures. */
export async function tryRefreshFigures({ record, figures, crowd, dataset, log }: PipelineDeps, now: Date): Promise<void> {
  const refresh = async () => {
    if ((await record.findLastDay()) === null) return;
    await figures.refresh();
    await crowd.refresh(now);
    await dataset.refresh();
  };
  await refresh().catch((error: unknown) => log.error({ err: error }, 'computing the figures of the record failed'));
}

/** On failure the outbox entries stay with their documents and are published later. */
async function tryPublishChanges({ publishChanges, log }: PipelineDeps): Promise<void> {
  await publishChanges().catch((error: unknown) => log.error({ err: error }, 'publishing changes failed: it will be retried'));
}

/** Runs the steps of the outcome check; one that waits or fails does not block the others. */
export async function runOutcomeCheck(deps: PipelineDeps, context: StepContext): Promise<StepReport[]> {
  const day = toDay(context.now.getTime());
  const reports: StepReport[] = [];
  for (const step of OUTCOME_STEPS) reports.push({ step, day, outcome: await runStep(deps, step, day, context) });
  return reports;
}

function formatDayOutcome({ missedBecause, signalAt, late }: DayDoc): string {
  if (missedBecause !== null) return `missed: ${missedBecause}`;
  return `forecast at ${signalAt.toISOString()}${late ? ', late' : ''}`;
}

function formatWagerOutcome(wager: WagerDoc | null): string {
  if (wager === null) return 'nothing decided: no forecast of that day, or new wagers are off or paused';
  return wager.skippedBecause === null ? wager.state : `${wager.state}: ${wager.skippedBecause}`;
}

function formatBriefOutcome({ generatedAt, late }: Brief): string {
  return `made at ${generatedAt}${late ? ', late' : ''}`;
}

function formatList(done: string, items: string[]): string {
  return items.length === 0 ? 'nothing to do' : `${done} ${items.join(', ')}`;
}

function formatCount(done: string, count: number): string {
  return count === 0 ? 'nothing to do' : `${count} ${done}`;
}
