/** The kinds of events that are pushed (interface, section 6.1), over every channel. */
export const EVENT_NAMES = [
  'signal.new',
  'signal.resolved',
  'wager.placed',
  'wager.settled',
  'attestation.created',
  'regime.changed',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];
