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
    events: z.array(z.enum(PUSHED_NAMES)).describe('Kinds of events that are sent'),
    horizons: z.array(HORIZON).nullable().describe('Horizons that are sent; null: all. Events without a horizon are sent in any case'),
  })
  .describe('What is sent over this connection');

const EXPIRES_AT = TIME.describe('When the token expires: the connection ends then with 4001, unless a fresh one comes before');
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
    timestamp: TIME.describe('When it was sent'),
  });
  return { summary, schema } satisfies MessageKind;
}

export const SERVER_MESSAGES = {
  connected: defineServerMessage(
    'connected',
    'The first message of every connection: who it belongs to, and what it will bring',
    z.object({
      wallet: z.string().describe('Wallet that the token belongs to'),
      tier: TIER.describe('What the balance of the wallet opens now: it decides what is in the events'),
      expiresAt: EXPIRES_AT,
      lastEventId: EVENT_ID.describe(
        'Id of the newest event at that moment; 0 before the first. What comes later is sent, and with `since` what was missed up to here',
      ),
      subscription: SUBSCRIPTION,
      pingSeconds: COUNT.describe('Seconds from ping frame to ping frame of the server: who hears none for longer has lost the connection'),
    }),
  ),
  subscribed: defineServerMessage('subscribed', 'The answer to `subscribe`: what holds from now on', SUBSCRIPTION),
  authenticated: defineServerMessage(
    'authenticated',
    'The answer to `authenticate`: the connection goes on with the fresh token',
    z.object({ tier: TIER.describe('What the balance of the wallet opens now'), expiresAt: EXPIRES_AT }),
  ),
  'token.expiring': defineServerMessage(
    'token.expiring',
    'The token expires within a minute: log in again and send `authenticate` to go on without a break',
    z.object({ expiresAt: EXPIRES_AT }),
  ),
  'replay.gap': defineServerMessage(
    'replay.gap',
    'Events that were asked for by `since` are kept no longer',
    z.object({
      from: EVENT_ID.describe('Id of the first event that is gone'),
      to: EVENT_ID.describe('Id of the last one'),
    }),
  ),
  'replay.complete': defineServerMessage(
    'replay.complete',
    'Everything that was missed since `since` has been sent; what follows happens now',
    z.object({ through: EVENT_ID.describe('Id up to which the log was looked through') }),
  ),
  pong: defineServerMessage('pong', 'The answer to `ping`', z.object({ lastEventId: LAST_EVENT_ID })),
  error: defineServerMessage(
    'error',
    'A message of the client could not be carried out, and has changed nothing',
    z.object({
      code: z.enum(Object.keys(ERROR_CODES) as ErrorCode[]).describe('Kind of error, as over HTTP'),
      message: z.string().describe('What is wrong'),
      field: z.string().optional().describe('The field at fault'),
      suggestedAction: z.string().optional().describe('What to do about it'),
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
    summary: 'Replaces the subscription; without `events` all kinds are sent, without a horizon those of 7 days',
    schema: z.strictObject({
      type: z.literal('subscribe').describe('Kind of message'),
      data: z
        .strictObject({
          events: defineList(z.enum(PUSHED_NAMES, `must be among ${PUSHED_NAMES.join(', ')}`), PUSHED_NAMES.length)
            .optional()
            .describe('Kinds of events; left out: all'),
          horizon: HORIZON_FIELD.optional().describe('One horizon, such as `7d` or `7`, in place of `horizons`'),
          horizons: HORIZONS_FIELD.optional().describe(
            'Horizons, or `all`; without it and without `horizon`: `7d`. Events without a horizon are always sent',
          ),
        })
        .refine(...ONE_CHOICE)
        .describe('What is to be sent'),
    }),
  },
  authenticate: {
    summary: 'Goes on with a fresh token of the same wallet, without a break',
    schema: z.strictObject({
      type: z.literal('authenticate').describe('Kind of message'),
      data: z
        .strictObject({
          token: z.string().max(2_048, 'is no access token').describe('From `POST /api/svc/oracle/verify`, as on connecting'),
        })
        .describe('Who it is'),
    }),
  },
  ping: {
    summary: 'Asks whether the connection lives, where ping frames cannot be sent or seen, as in browsers',
    schema: z.strictObject({
      type: z.literal('ping').describe('Kind of message'),
      data: z.object({}).optional().describe('Nothing'),
    }),
  },
} as const satisfies Record<string, MessageKind>;

export const CLIENT_MESSAGE = z.discriminatedUnion(
  'type',
  [CLIENT_MESSAGES.subscribe.schema, CLIENT_MESSAGES.authenticate.schema, CLIENT_MESSAGES.ping.schema],
  `must be ${Object.keys(CLIENT_MESSAGES).join(', ')}`,
);

export type ClientMessage = z.output<typeof CLIENT_MESSAGE>;
