import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../platform/errors.ts';
import { COUNT, TIME } from '../../../platform/validation/fields.ts';
import { HORIZON } from '../../../record/schemas/forecast.ts';
import { PUSHED_NAMES } from '../../event-names.ts';
import { HORIZON_FIELD, HORIZONS_FIELD, ONE_CHOICE } from '../../horizon-choice.ts';

const TIER = z.enum(['basic', 'premium']);
const EVENT_ID = z.int().min(0);

const SUBSCRIPTION = z
  .object({
    events: z.array(z.enum(PUSHED_NAMES)).describe('Event types that are sent'),
    horizons: z.array(HORIZON).nullable().describe('Horizons that are sent; null: all. Events without a horizon are always sent'),
  })
  .describe('Subscription of this connection');

const EXPIRES_AT = TIME.describe('Expiry of the token; the connection is closed with 4001 then, unless `authenticate` replaces it');
const EXPIRES_AT_OR_NULL = TIME.nullable().describe(
  'Expiry of the token; the connection is closed with 4001 then, unless `authenticate` replaces it. Null only for an API key without an end',
);
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
    data,
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
    z.object({ expiresAt: EXPIRES_AT }),
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

export type ServerMessageName = keyof typeof SERVER_MESSAGES;

export type ServerData<Name extends ServerMessageName> = z.input<(typeof SERVER_MESSAGES)[Name]['schema']>['data'];

const defineList = <Item extends z.ZodType>(item: Item, max: number) =>
  z.array(item).min(1, 'must name at least one').max(max, `must name at most ${max}`);

/** Client messages by type; JSON text of at most 4096 bytes. */
export const CLIENT_MESSAGES = {
  subscribe: {
    summary: 'Replaces the subscription; default: all event types, horizon 7d',
    schema: z.strictObject({
      type: z.literal('subscribe').describe('Kind of message'),
      data: z
        .strictObject({
          events: defineList(z.enum(PUSHED_NAMES, `must be among ${PUSHED_NAMES.join(', ')}`), PUSHED_NAMES.length)
            .optional()
            .describe('Event types; default: all'),
          horizon: HORIZON_FIELD.optional().describe('One horizon, e.g. `7d` or `7`, instead of `horizons`'),
          horizons: HORIZONS_FIELD.optional().describe('Horizons, or `all`; default: `7d`. Events without a horizon are always sent'),
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

export const CLIENT_MESSAGE = z.discriminatedUnion(
  'type',
  [CLIENT_MESSAGES.subscribe.schema, CLIENT_MESSAGES.authenticate.schema, CLIENT_MESSAGES.ping.schema],
  `must be ${Object.keys(CLIENT_MESSAGES).join(', ')}`,
);

export type ClientMessage = z.output<typeof CLIENT_MESSAGE>;
