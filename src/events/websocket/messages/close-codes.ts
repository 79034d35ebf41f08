import { WEBSOCKET } from '../../channels.ts';

/** Close codes of the server. The library sends those of the protocol: 1002, 1007, 1009. */
export const CLOSE_CODES = {
  goingAway: {
    code: 1001,
    reason: 'the service is stopping',
    meaning: 'The service is restarting: reconnect after 5 seconds with `since`',
  },
  protocolError: { code: 1002, reason: '', meaning: 'A frame violates RFC 6455' },
  invalidText: { code: 1007, reason: '', meaning: 'A text message is not UTF-8' },
  policy: {
    code: 1008,
    reason: 'too many messages, or too many invalid ones',
    meaning:
      'More than 60 messages per minute (ping and pong frames included), more than 10 invalid messages, or a message in more than 64 fragments',
  },
  tooLarge: { code: 1009, reason: '', meaning: 'A message exceeds 4096 bytes' },
  tryLater: {
    code: 1013,
    reason: 'the client cannot be authenticated now: try again later',
    meaning: 'Balance or session cannot be read, or the worker gave up the connection: reconnect after 30 seconds with `since`',
  },
  tokenExpired: {
    code: WEBSOCKET.expiredCloseCode,
    reason: 'the token has expired or was revoked',
    meaning: 'The token has expired or its session was revoked: log in and reconnect with `since`',
  },
  tierLost: {
    code: 4003,
    reason: 'the wallet is below the Basic tier',
    meaning: 'The balance of the wallet is below the Basic tier: connections are rejected until it is restored',
  },
  tooSlow: {
    code: 4008,
    reason: 'too slow: more than 1 MiB was unread',
    meaning:
      'More than 1 MiB was unread: reconnect with `since`. A client that still reads nothing for 30 seconds is disconnected without a close frame (1006)',
  },
} as const satisfies Record<string, { code: number; reason: string; meaning: string }>;

export type CloseCause = keyof typeof CLOSE_CODES;
