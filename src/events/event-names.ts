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

/** What only the owner of something is told, over the same channels. */
export const NOTICE_NAMES = ['webhook.disabled'] as const;

export type NoticeName = (typeof NOTICE_NAMES)[number];

/** Everything that can be subscribed to. */
export const PUSHED_NAMES = [...EVENT_NAMES, ...NOTICE_NAMES] as const;

export type PushedName = (typeof PUSHED_NAMES)[number];
