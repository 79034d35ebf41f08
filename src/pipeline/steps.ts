import type { Day } from '../forecast/day.ts';
import { dayOf } from '../forecast/day.ts';
import { attestStep } from './attest.ts';
import { openWindowStep } from './open-window.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { reputationStep } from './reputation.ts';
import { resolveStep } from './resolve.ts';
import { settleStep } from './settle.ts';
import { signalStep } from './signal.ts';
import type { StepName } from './step-runs.ts';
import { wagerStep } from './wager.ts';

type Step = (parts: PipelineParts, day: Day, context: StepContext) => Promise<unknown>;

/** Every step by name, in the order in which a day runs them. The outcome steps look at the clock, not at the day. */
export const STEPS: Record<StepName, Step> = {
  signal: signalStep,
  attest: attestStep,
  wager: wagerStep,
  'open-window': (parts, _day, context) => openWindowStep(parts, context),
  resolve: (parts, _day, context) => resolveStep(parts, context),
  settle: (parts, _day, context) => settleStep(parts, context),
  reputation: (parts) => reputationStep(parts),
};

export const STEP_NAMES = Object.keys(STEPS) as StepName[];

/** The steps of the outcome check, every six hours. */
export const OUTCOME_STEPS = ['open-window', 'resolve', 'settle', 'reputation'] as const satisfies StepName[];

/** What a step came to: nothing while all is well, else what it waits for. */
export type StepOutcome = { done: true } | { waiting: string };

/** Runs one step and records it; a step that has to wait says for what. @throws what makes a step fail for good. */
export async function runStep(parts: PipelineParts, step: StepName, day: Day, context: StepContext): Promise<StepOutcome> {
  const result = await parts.runs.run(step, day, context, () => STEPS[step](parts, day, context));
  return 'waiting' in result ? result : { done: true };
}

/** Opens windows, resolves, settles and reports: what is due at the clock's time. A step that waits does not hold up the others. */
export async function runOutcomeCheck(parts: PipelineParts, context: StepContext): Promise<void> {
  for (const step of OUTCOME_STEPS) await runStep(parts, step, dayOf(context.now.getTime()), context);
}
