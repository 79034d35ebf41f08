import type { PushedName } from './event-names.ts';

/** The WebSocket and its rules (interface, section 6.1). */
export const WEBSOCKET = {
  path: '/ws/signal',
  pingSeconds: 30,
  reconnectSeconds: 5,
  expiredCloseCode: 4001,
  connectionsPerWallet: 5,
} as const;

export const EVENT_KINDS: Readonly<Record<PushedName, { meaning: string; frequency: string }>> = {
  'signal.new': { meaning: 'A new daily signal', frequency: 'once a day, about 21:35 UTC' },
  'signal.resolved': { meaning: 'A pending prediction was resolved', frequency: 'as outcomes settle' },
  'wager.placed': {
    meaning: 'The wager of the day was placed in the prediction market, or none was',
    frequency: 'once a day, about 21:42 UTC',
  },
  'wager.settled': { meaning: 'A wager was settled', frequency: 'as markets resolve' },
  'attestation.created': {
    meaning: 'A prediction, or the resolution of one, was attested on chain',
    frequency: 'of the type prediction once a day, about 21:38 UTC; of the type resolution as outcomes settle',
  },
  'regime.changed': { meaning: 'The regime changed', frequency: 'on change' },
  'webhook.disabled': {
    meaning: 'A webhook was disabled',
    frequency: 'after a 410 or five days of failure (a chat: also once it is deleted); to its owner only',
  },
};
