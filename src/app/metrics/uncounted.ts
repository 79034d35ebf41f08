import type { PushedName } from '../../events/event-names.ts';

/** A settled wager says that the forecast of its day is no HOLD, perhaps before that is revealed. */
export const UNCOUNTED_EVENTS: readonly PushedName[] = ['wager.placed', 'wager.settled'];
