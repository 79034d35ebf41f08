/** Events that all transports push (interface, section 6.1). */
export const EVENT_NAMES = [
  'signal.new',
  'signal.resolved',
  'wager.placed',
  'wager.settled',
  'attestation.created',
  'regime.changed',
] as const;

export const NOTICE_NAMES = ['webhook.disabled'] as const;
export const PUSHED_NAMES = [...EVENT_NAMES, ...NOTICE_NAMES] as const;

export type PushedName = (typeof PUSHED_NAMES)[number];
