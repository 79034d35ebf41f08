import { z } from 'zod';
import type { Tier } from '../../auth/caller.ts';
import { ERROR_CODES, type ErrorCode } from '../../errors.ts';
import { MOVE_SIZES } from '../../forecast/move.ts';
import { COUNT, TIME } from '../../platform/validation.ts';
import { HORIZON } from '../../record/schemas/forecast.ts';
import { type EventViewOptions, viewEvent } from '../event-view.ts';
import { HORIZON_FIELD, HORIZONS_FIELD, MOVE_SIZE_FIELD, MOVE_SIZE_FILTER, ONE_CHOICE, PUSHED_NAMES, WEBSOCKET } from '../events.ts';
import type { AnyEvent } from '../log.ts';

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

/** Encodes each event once for the callers of a tier, and frames that are sent together once for all of their clients. */
export function createEventEncoder(options: EventViewOptions) {
  const framesByTier = new Map<Tier, Map<number, Buffer>>();
  /** What the last client of a tier was sent: that of the next one is mostly the same. */
  const lastByTier = new Map<Tier, { frames: readonly Buffer[]; joined: Buffer }>();
  return {
    /** The frame of an event for callers of a tier. */
    encode(event: AnyEvent, tier: Tier): Buffer {
      const frames = framesByTier.get(tier) ?? new Map<number, Buffer>();
      const known = frames.get(event._id);
      if (known !== undefined) return known;
      const frame = encodeTextFrame(JSON.stringify(viewEvent(event, { tier }, options)));
      framesByTier.set(tier, frames.set(event._id, frame));
      return frame;
    },
    /** Frames of `encode` for a tier, one or more, as one buffer: a write costs far more than its bytes. */
    join(frames: readonly Buffer[], tier: Tier): Buffer {
      if (frames.length === 1) return frames[0];
      const last = lastByTier.get(tier);
      if (last?.frames.length === frames.length && last.frames.every((frame, index) => frame === frames[index])) return last.joined;
      const joined = Buffer.concat(frames);
      lastByTier.set(tier, { frames, joined });
      return joined;
    },
  };
}

const FIN_TEXT = 0x81;

/** A text message as one unmasked frame (RFC 6455, section 5.2): encoded once, written to many sockets. */
export function encodeTextFrame(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const header = encodeHeader(bytes);
  const frame = Buffer.allocUnsafe(header.length + bytes);
  header.copy(frame);
  frame.write(text, header.length);
  return frame;
}

function encodeHeader(bytes: number): Buffer {
  if (bytes <= 125) return Buffer.from([FIN_TEXT, bytes]);
  // 126: the length follows in 16 bits; 127: in 64.
  if (bytes <= 0xff_ff) return Buffer.from([FIN_TEXT, 126, bytes >> 8, bytes & 0xff]);
  const header = Buffer.from([FIN_TEXT, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return header;
}

const TIER = z.enum(['basic', 'premium']);
const EVENT_ID = z.int().min(0);

const SUBSCRIPTION = z
  .object({
    events: z.array(z.enum(PUSHED_NAMES)).describe('Event types that are sent'),
    horizons: z.array(HORIZON).nullable().describe('Horizons that are sent; null: all. Events without a horizon are always sent'),
    moveSize: z.array(z.enum(MOVE_SIZES)).nullable().describe(`${MOVE_SIZE_FILTER}; null: all`),
  })
  .describe('Subscription of this connection');

const EXPIRY = 'Expiry of the token; the connection is closed with 4001 then, unless `authenticate` replaces it';
const EXPIRES_AT_OR_NULL = TIME.nullable().describe(`${EXPIRY}. Null only for an API key without an end`);
const LAST_EVENT_ID = EVENT_ID.describe(
  'Id of the newest event that was looked at for this connection, sent or filtered; 0 before the first',
);

interface MessageKind {
  summary: string;
  schema: z.ZodObject;
}

/** A server message other than an event: `type`, `data` and `timestamp` as in the interface, without `id`. */
function defineServerMessage<Type extends string, Data extends z.ZodObject>(type: Type, summary: string, data: Data) {
  const schema = z.object({
    type: z.literal(type).describe('Kind of message'),
    data: data.describe(data.description ?? summary),
    timestamp: TIME.describe('Time of sending'),
  });
  return { summary, schema } satisfies MessageKind;
}

export const SERVER_MESSAGES = {
  connected: defineServerMessage(
    'connected',
    'First message of a connection: its wallet, tier and subscription',
    z.object({
      wallet: z.string().describe('Wallet of the token'),
      tier: TIER.describe('Current tier of the wallet, which decides the fields of events'),
      expiresAt: EXPIRES_AT_OR_NULL,
      lastEventId: EVENT_ID.describe(
        'Id of the newest event; 0 before the first. Later events follow, and with `since` the missed ones up to this id',
      ),
      subscription: SUBSCRIPTION,
      pingSeconds: COUNT.describe('Interval of ping frames in seconds; a longer silence means that the connection is lost'),
    }),
  ),
  subscribed: defineServerMessage('subscribed', 'Response to `subscribe`: the subscription from now on', SUBSCRIPTION),
  authenticated: defineServerMessage(
    'authenticated',
    'Response to `authenticate`: the connection continues with the new token',
    z.object({ tier: TIER.describe('Current tier of the wallet'), expiresAt: EXPIRES_AT_OR_NULL }),
  ),
  'token.expiring': defineServerMessage(
    'token.expiring',
    'The token expires within a minute: log in and send `authenticate` to keep the connection',
    z.object({ expiresAt: TIME.describe(EXPIRY) }),
  ),
  'replay.gap': defineServerMessage(
    'replay.gap',
    'Events requested with `since` are past their retention',
    z.object({
      from: EVENT_ID.describe('Id of the first missing event'),
      to: EVENT_ID.describe('Id of the last missing event'),
    }),
  ),
  'replay.complete': defineServerMessage(
    'replay.complete',
    'All missed events have been sent; live events follow',
    z.object({ through: EVENT_ID.describe('Last id of the replayed range') }),
  ),
  pong: defineServerMessage('pong', 'Response to `ping`', z.object({ lastEventId: LAST_EVENT_ID })),
  error: defineServerMessage(
    'error',
    'A message of the client was rejected and changed nothing',
    z.object({
      code: z.enum(Object.keys(ERROR_CODES) as ErrorCode[]).describe('Error code, as over HTTP'),
      message: z.string().describe('Description of the error'),
      field: z.string().optional().describe('Invalid field'),
      suggestedAction: z.string().optional().describe('How to correct it'),
    }),
  ),
} as const;

const defineList = <Item extends z.ZodType>(item: Item, max: number) =>
  z.array(item).min(1, 'must name at least one').max(max, `must name at most ${max}`);

/** Client messages by type; JSON text of at most 4096 bytes. */
export const CLIENT_MESSAGES = {
  subscribe: {
    summary: 'Replaces the subscription; default: all event types, horizon 7d, or 1d with `moveSize`',
    schema: z.strictObject({
      type: z.literal('subscribe').describe('Kind of message'),
      data: z
        .strictObject({
          events: defineList(z.enum(PUSHED_NAMES, `must be among ${PUSHED_NAMES.join(', ')}`), PUSHED_NAMES.length)
            .optional()
            .describe('Event types; default: all'),
          horizon: HORIZON_FIELD.optional().describe('One horizon, e.g. `7d` or `7`, instead of `horizons`'),
          horizons: HORIZONS_FIELD.optional().describe(
            'Horizons, or `all`; default: `7d`, or `1d` with `moveSize`. Events without a horizon are always sent',
          ),
          moveSize: MOVE_SIZE_FIELD.optional().describe(`${MOVE_SIZE_FILTER}; default: all`),
        })
        .refine(...ONE_CHOICE)
        .describe('The subscription'),
    }),
  },
  authenticate: {
    summary: 'Replaces the token of the connection by a new one of the same wallet',
    schema: z.strictObject({
      type: z.literal('authenticate').describe('Kind of message'),
      data: z
        .strictObject({
          token: z.string().max(2_048, 'is no access token').describe('From `POST /api/svc/oracle/verify`'),
        })
        .describe('Credentials'),
    }),
  },
  ping: {
    summary: 'Tests the connection where ping frames are unavailable, as in browsers',
    schema: z.strictObject({
      type: z.literal('ping').describe('Kind of message'),
      data: z.object({}).optional().describe('Empty'),
    }),
  },
} as const satisfies Record<string, MessageKind>;
