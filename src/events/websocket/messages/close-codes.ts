import { WEBSOCKET } from '../../channels.ts';

/** Close codes of the server. The library sends those of the protocol: 1002, 1007, 1009. */
export const CLOSE_CODES = {
  goingAway: {
    code: 1001,
    reason: 'the service is stopping',
    meaning: 'The service stops or restarts: connect again in 5 seconds with `since`',
  },
  protocolError: { code: 1002, reason: '', meaning: 'A frame breaks the rules of RFC 6455' },
  invalidText: { code: 1007, reason: '', meaning: 'A text message is not UTF-8' },
  policy: {
    code: 1008,
    reason: 'too many messages, or too many that are not valid',
    meaning:
      'More than 60 messages a minute, ping and pong frames included, or more than 10 that are not valid, or one in more than 64 fragments',
  },
  tooLarge: { code: 1009, reason: '', meaning: 'A message has more than 4096 bytes' },
  tryLater: {
    code: 1013,
    reason: 'it cannot be checked who this is: try again later',
    meaning: 'Balance or session cannot be read, or the connection was given up: connect again in 30 seconds with `since`',
  },
  tokenExpired: {
    code: WEBSOCKET.expiredCloseCode,
    reason: 'the token has expired or was revoked',
    meaning: 'The token of the connection has expired, or its session was ended: log in, and connect again with `since`',
  },
  tierLost: {
    code: 4003,
    reason: 'the wallet holds less than the Basic tier needs',
    meaning: 'The balance of the wallet has fallen below the Basic tier: connecting again is refused until it is back',
  },
  tooSlow: {
    code: 4008,
    reason: 'too slow: more than 1 MiB was waiting',
    meaning:
      'The client reads more slowly than events come, and 1 MiB was waiting: connect again with `since`. One that does not read on within 30 seconds is cut off without this (1006)',
  },
} as const satisfies Record<string, { code: number; reason: string; meaning: string }>;

export type CloseCause = keyof typeof CLOSE_CODES;
