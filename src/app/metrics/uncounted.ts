import type { PushedName } from '../../events/event-names.ts';
import type { StepName } from '../../pipeline/step-run-store.ts';

/** A settled wager says that the forecast of its day is no HOLD, perhaps before that is revealed. */
export const UNCOUNTED_EVENTS: readonly PushedName[] = ['wager.placed', 'wager.settled'];

/** A HOLD has no order that could wait or fail. */
export const UNCOUNTED_STEPS: readonly StepName[] = ['wager', 'settle'];
