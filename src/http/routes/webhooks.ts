import type { Address } from 'viem';
import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { OracleError } from '../../errors.ts';
import {
  HORIZON_FIELD,
  HORIZONS_FIELD,
  type HorizonFields,
  MOVE_SIZE_FIELD,
  MOVE_SIZE_FILTER,
  ONE_CHOICE,
  ONE_CHOICE_RULE,
  PUSHED_NAMES,
  parseHorizonChoice,
} from '../../events/events.ts';
import { EVENT_RETENTION_DAYS } from '../../events/log.ts';
import { MAX_SECRET_LENGTH, MIN_SECRET_BYTES, SECRET_RULE } from '../../events/webhooks/call.ts';
import { CHAT_FORMATS, CHAT_ID_PATTERN, CHAT_NAMES, WEBHOOK_FORMATS } from '../../events/webhooks/formats.ts';
import {
  DELIVERY_RETENTION_DAYS,
  DELIVERY_STATES,
  DISABLERS,
  WEBHOOK_STATUSES,
  type WebhookDeliveryDoc,
} from '../../events/webhooks/queue.ts';
import {
  MAX_REPLAYED_EVENTS_PER_DAY,
  MAX_TESTS_PER_DAY,
  MAX_WEBHOOKS_PER_WALLET,
  MIN_TEST_INTERVAL_SECONDS,
  PREVIOUS_SECRET_HOURS,
  REPLAY_CAUSE_PREFIX,
  type WebhookRegistry,
} from '../../events/webhooks/registry.ts';
import { parseHorizonDays } from '../../forecast/horizon-input.ts';
import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import { MOVE_SIZES } from '../../forecast/move.ts';
import { MAX_URL_CHARS } from '../../platform/outbound/guarded.ts';
import { COUNT, SUCCESS, TIME, withInputRules } from '../../platform/validation.ts';
import { beforeInput, limitInput } from '../parameters.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const WEBHOOK_ROUTE = { tag: 'webhooks', access: 'basic' } as const;

const WEBHOOK_PATH = '/api/svc/webhooks/{id}';

/** Interface, section 4.3; `get` and `change` are additions. */
export function webhookRoutes({ webhooks }: Services): Route[] {
  return [
    route('GET /api/svc/webhooks', 'listWebhooks', {
      ...WEBHOOK_ROUTE,
      summary: 'Webhooks of the caller, without secrets',
      reply: WEBHOOKS_REPLY,
      async handle({ caller }) {
        const listed = (await webhooks.list(requireCallerWallet(caller))).map(toWebhookMembers);
        return { body: { success: true as const, webhooks: listed, count: listed.length, limit: WEBHOOKS_REPLY.shape.limit.value } };
      },
    }),
    route('POST /api/svc/webhooks/register', 'registerWebhook', {
      ...WEBHOOK_ROUTE,
      ownerOnly: true,
      status: 201,
      summary: 'Registers a webhook and returns its secret once',
      description: `At most ${MAX_WEBHOOKS_PER_WALLET} per wallet; the same URL with the same events, horizons and sizes is rejected. Format discord, slack or telegram posts a text to that chat.`,
      body: REGISTER_BODY,
      reply: REGISTERED_REPLY,
      errors: ['CONFLICT'],
      async handle({ body: { url, format, chatId, events, moveSize, secret: wanted, ...choice }, caller }) {
        const registration = { url, format, chatId, events, moveSize, secret: wanted, horizons: getHorizonDays(choice) };
        const { secret, verificationKey, ...webhook } = await webhooks.register(requireCallerWallet(caller), registration);
        return { body: { ...toWebhookReply(webhook), secret, verificationKey } };
      },
    }),
    route(`GET ${WEBHOOK_PATH}`, 'getWebhook', {
      ...WEBHOOK_ROUTE,
      summary: 'One webhook of the caller, without its secret',
      params: WEBHOOK_ID,
      reply: WEBHOOK_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ params: { id }, caller }) => ({ body: toWebhookReply(await webhooks.get(requireCallerWallet(caller), id)) }),
    }),
    route(`PATCH ${WEBHOOK_PATH}`, 'changeWebhook', {
      ...WEBHOOK_ROUTE,
      ownerOnly: true,
      summary: 'Changes events, horizons, `moveSize` or URL of a webhook',
      description: 'Omitted fields stay, and the format does. Queued deliveries go to the new URL.',
      params: WEBHOOK_ID,
      body: CHANGE_BODY,
      reply: WEBHOOK_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ params: { id }, body: { url, chatId, events, moveSize, ...choice }, caller }) {
        const change = { url, chatId, events, moveSize, horizons: getHorizonDays(choice) };
        return { body: toWebhookReply(await webhooks.change(requireCallerWallet(caller), id, change)) };
      },
    }),
    route(`DELETE ${WEBHOOK_PATH}`, 'deleteWebhook', {
      ...WEBHOOK_ROUTE,
      ownerOnly: true,
      summary: 'Deletes a webhook with its queue and deliveries',
      params: WEBHOOK_ID,
      reply: WEBHOOK_DELETED_REPLY,
      errors: ['NOT_FOUND'],
      async handle({ params: { id }, caller }) {
        await webhooks.remove(requireCallerWallet(caller), id);
        return { body: { success: true as const, id } };
      },
    }),
  ];
}

type WebhookView = Awaited<ReturnType<WebhookRegistry['get']>>;

function toWebhookReply(webhook: WebhookView): z.input<typeof WEBHOOK_REPLY> {
  return { success: true, ...toWebhookMembers(webhook) };
}

function toWebhookMembers({ _id, ...webhook }: WebhookView): z.input<typeof WEBHOOK> {
  return {
    id: _id,
    ...webhook,
    horizons: webhook.horizons?.map(formatHorizonName) ?? null,
    createdAt: webhook.createdAt.toISOString(),
    secretSetAt: webhook.secretSetAt.toISOString(),
    previousSecretUntil: webhook.previousSecretUntil?.toISOString() ?? null,
    suspendedAt: webhook.suspendedAt?.toISOString() ?? null,
    disabledAt: webhook.disabledAt?.toISOString() ?? null,
    failingSince: webhook.failingSince?.toISOString() ?? null,
  };
}

/** Null: all horizons; undefined: not specified. */
function getHorizonDays(fields: HorizonFields): number[] | null | undefined {
  const choice = parseHorizonChoice(fields);
  return choice == null ? choice : choice.map(parseHorizonDays);
}

/** A caller that has paid without a token has no wallet, and no webhooks. */
function requireCallerWallet({ wallet }: Caller): Address {
  if (wallet !== undefined) return wallet;
  throw new OracleError('UNAUTHENTICATED', 'An access token is required', { field: 'Authorization' });
}

/** JSON Schema patterns for inputs that functions check: each accepts only what its function accepts. */

const GROUP = '[A-Za-z0-9+/]{4}';
/** One or two trailing bytes in base64, whose unused bits are zero. */
const ONE_BYTE = '[A-Za-z0-9+/][AQgw](?:==)?';
const TWO_BYTES = '[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=?';
/** Endings after whole groups, by the minimum number of further bytes. */
const ENDINGS = [`(?:${ONE_BYTE}|${TWO_BYTES})?`, `(?:${ONE_BYTE}|${TWO_BYTES}|${GROUP})`, `(?:${TWO_BYTES}|${GROUP}(?:${ONE_BYTE})?)`];
const BASE64 = `(?:${GROUP}){${Math.floor(MIN_SECRET_BYTES / 3)},}${ENDINGS[MIN_SECRET_BYTES % 3]}`;

/** `whsec_` and base64, or text of the Basic Multilingual Plane without control characters; `toSigningKey` also accepts other planes. */
const SECRET_PATTERN = `^(?:whsec_${BASE64}|(?!whsec_)[ -~\\u00a0-\\ud7ff\\ue000-\\uffff]{${MIN_SECRET_BYTES},${MAX_SECRET_LENGTH}})$`;

const PORT = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';
const LABEL = '(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NOT_LOCAL = '(?![^/?:]*\\.(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\\.arpa)(?:[/?:]|$))';

/** https, a non-local host in lower case, no credentials or fragment. `parseTarget` accepts more spellings; a lookup decides on the address. */
const CALLBACK_PATTERN = `^https://${NOT_LOCAL}(?:${LABEL}\\.)+[a-z]{2,63}(?::${PORT})?(?:[/?][\\w.~!$&()*+,;=:@/?%-]*)?$`;

const event = z.enum(PUSHED_NAMES, { error: `must be one of ${PUSHED_NAMES.join(', ')}` });
const unique = (values: readonly string[]) => new Set(values).size === values.length;
const once = { error: 'must not repeat a value' };

const WEBHOOK_ID = z.object({
  id: z
    .uuid('must be the id of a webhook: a UUID')
    .toLowerCase()
    .describe('Id of a webhook of this wallet')
    .meta({ param: { id: 'WebhookId' } }),
});

const url = withInputRules(
  z
    .string({ error: 'must be an https URL' })
    .min(1, 'must be an https URL')
    .max(MAX_URL_CHARS, `must have at most ${MAX_URL_CHARS} characters`),
  { format: 'uri', pattern: CALLBACK_PATTERN },
);
const URL_RULE =
  'https, on a public host, without credentials and fragment. ' +
  'All its addresses must be public; a host that does not resolve now is accepted, and checked before each call';

const events = withInputRules(
  z
    .array(event, { error: `must be a list of ${PUSHED_NAMES.join(', ')}` })
    .min(1, 'must name at least one event')
    .max(PUSHED_NAMES.length, once)
    .refine(unique, once),
  { uniqueItems: true },
);

const format = z
  .enum(WEBHOOK_FORMATS, { error: `must be one of ${WEBHOOK_FORMATS.join(', ')}` })
  .describe('json: the event itself; others: a text for that chat, whose URL is stored encrypted and shown masked');

const CHAT_ID_RULE = 'must be the id of a chat, such as -1001234567890, or @ and the name of a public one';
const chatId = z
  .string({ error: CHAT_ID_RULE })
  .regex(new RegExp(CHAT_ID_PATTERN), CHAT_ID_RULE)
  .describe('Telegram chat: its id, or `@` and the name of a public channel or group');

const CHATS_WITH_ID = CHAT_NAMES.filter((name) => CHAT_FORMATS[name].hasChatId);
const needsChatId = (wanted: string | undefined) => CHATS_WITH_ID.some((name) => name === wanted);
const ID_OF_CHAT: [(body: { format?: string; chatId?: string }) => boolean, { path: string[]; error: string }] = [
  ({ format: wanted, chatId: id }) => needsChatId(wanted) === (id !== undefined),
  { path: ['chatId'], error: `must be sent with format ${CHATS_WITH_ID.join(', ')}, and with no other` },
];

const HAS_CHAT_ID = { properties: { chatId: {} }, required: ['chatId'] };
const HAS_CHAT_WITH_ID = { properties: { format: { enum: CHATS_WITH_ID } }, required: ['format'] };

/** The same rules in JSON Schema, with the URL that each chat takes: linters close every subschema, but those below `not`. */
const REGISTRATION_RULES = {
  not: {
    anyOf: [
      ONE_CHOICE_RULE.not,
      { ...HAS_CHAT_WITH_ID, not: HAS_CHAT_ID },
      { ...HAS_CHAT_ID, not: HAS_CHAT_WITH_ID },
      ...CHAT_NAMES.map((name) => ({
        properties: { format: { const: name }, url: { not: { pattern: CHAT_FORMATS[name].urlPattern } } },
        required: ['format'],
      })),
    ],
  },
};

const horizon = HORIZON_FIELD.optional().describe('One horizon, such as `7d`, `"7"` or 7, in place of `horizons`');

const secret = withInputRules(
  z.string({ error: `must be ${SECRET_RULE}` }).max(MAX_SECRET_LENGTH, `must have at most ${MAX_SECRET_LENGTH} characters`),
  { pattern: SECRET_PATTERN },
).optional();

const REGISTER_BODY = withInputRules(
  z
    .strictObject({
      url: url.describe(`Webhook URL: ${URL_RULE}`),
      format: format.optional(),
      chatId: chatId.optional(),
      events: events.describe('Subscribed events'),
      horizon,
      horizons: HORIZONS_FIELD.optional().describe(
        'Horizons of events that have one, or `all`; default without `horizon`: `7d`, or `1d` with `moveSize`',
      ),
      moveSize: MOVE_SIZE_FIELD.optional().describe(MOVE_SIZE_FILTER),
      secret: secret.describe(`Signing secret: ${SECRET_RULE}; generated where omitted`),
    })
    .refine(...ONE_CHOICE)
    .refine(...ID_OF_CHAT)
    .meta({ examples: [{ url: 'https://hooks.example.com/oracle', events: ['signal.new'], horizons: ['7d'] }] }),
  REGISTRATION_RULES,
);

const CHANGE_BODY = withInputRules(
  z
    .strictObject({
      url: url.optional().describe(`New webhook URL, of the same format: ${URL_RULE}`),
      chatId: chatId.optional(),
      events: events.optional().describe('Subscribed events, replacing the previous ones'),
      horizon,
      horizons: HORIZONS_FIELD.nullable()
        .optional()
        .describe('Horizons of events that have one; `all` or null: all. Unchanged where omitted with `horizon`'),
      moveSize: MOVE_SIZE_FIELD.nullable().optional().describe(`${MOVE_SIZE_FILTER}; null: all`),
    })
    .refine(...ONE_CHOICE),
  ONE_CHOICE_RULE,
);

const ROTATE_SECRET_BODY = z.strictObject({
  secret: secret.describe(`New secret: ${SECRET_RULE}; generated where omitted. The current secret changes nothing`),
});

const WEBHOOK = z.object({
  id: z.uuid().describe('Webhook id'),
  url: z.string().describe('Normalized URL; of a chat its host and last four characters'),
  format: z.enum(WEBHOOK_FORMATS).describe('What is posted'),
  chatId: z.string().nullable().describe('Telegram chat; null for other formats'),
  events: z.array(z.enum(PUSHED_NAMES)).describe('Subscribed events'),
  horizons: z
    .array(z.enum(HORIZONS.map(formatHorizonName)))
    .nullable()
    .describe('Horizons of events that have one; null: all'),
  moveSize: z.array(z.enum(MOVE_SIZES)).nullable().describe(`${MOVE_SIZE_FILTER}; null: all`),
  status: z
    .enum(WEBHOOK_STATUSES)
    .describe(
      'suspended: the wallet has lost the Basic tier, and events are queued; disabled: receives no events. Both count against the limit until deleted',
    ),
  suspendedAt: TIME.nullable().describe('When it was suspended; null otherwise'),
  disabledAt: TIME.nullable().describe('When it was disabled; null while active'),
  disabledReason: z.string().nullable().describe('Reason; null while active'),
  disabledBy: z
    .enum(DISABLERS)
    .nullable()
    .describe(
      'operator: permanent; receiver: it answered 410, or as a chat that the webhook is deleted; failures: every attempt failed for five days. The last two can be re-enabled. null while active',
    ),
  failingSince: TIME.nullable().describe('Since when every attempt has failed; null after a success'),
  createdAt: TIME.describe('When it was registered'),
  secretSetAt: TIME.describe('When its secret was set and returned'),
  previousSecretUntil: TIME.nullable().describe('Until when the previous secret also signs; null: only the current one signs'),
});

const SHOWN_SECRET = {
  secret: z
    .string()
    .describe(
      'Signing secret as sent or generated, returned only now. After whsec_ follows base64 of the key; any other text is the key itself',
    ),
  verificationKey: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/)
    .describe('The same secret as every Standard Webhooks library takes it: whsec_ and base64 of the key. Returned only now'),
};

export const REGISTERED_REPLY = z.object({ success: SUCCESS, ...WEBHOOK.shape, ...SHOWN_SECRET });

/** `POST /api/svc/webhooks/{id}/secret`: besides a registration the only reply with a secret. */
export const ROTATED_SECRET_REPLY = z.object({
  success: SUCCESS,
  id: WEBHOOK.shape.id,
  ...SHOWN_SECRET,
  secretSetAt: WEBHOOK.shape.secretSetAt,
  previousSecretUntil: TIME.nullable().describe(
    `Until when both secrets sign, ${PREVIOUS_SECRET_HOURS} hours from the change; null when nothing changed and only one signs`,
  ),
});

/** `GET` and `PATCH /api/svc/webhooks/{id}`, `POST /api/svc/webhooks/{id}/enable`. */
export const WEBHOOK_REPLY = z.object({ success: SUCCESS, ...WEBHOOK.shape }).meta({ id: 'WebhookResponse' });

export const WEBHOOKS_REPLY = z.object({
  success: SUCCESS,
  webhooks: z.array(WEBHOOK).describe('Webhooks of the caller, oldest first'),
  count: COUNT.describe('Length of `webhooks`'),
  limit: z.literal(MAX_WEBHOOKS_PER_WALLET).describe('Webhooks per wallet'),
});

export const WEBHOOK_DELETED_REPLY = z.object({ success: SUCCESS, id: z.uuid().describe('Deleted webhook') });

const SINGLE_WEBHOOK_ROUTE = { ...WEBHOOK_ROUTE, params: WEBHOOK_ID } as const;

/** Secret rotation, test calls, replays and deliveries: additions to the interface. */
export function webhookCallRoutes({ webhooks }: Services): Route[] {
  return [
    route(`POST ${WEBHOOK_PATH}/secret`, 'rotateWebhookSecret', {
      ...SINGLE_WEBHOOK_ROUTE,
      ownerOnly: true,
      summary: 'Sets a new secret and returns it once; the previous one also signs for a day',
      description:
        `For ${PREVIOUS_SECRET_HOURS} hours \`webhook-signature\` has a signature by each secret. A second rotation within that time revokes the oldest secret at ` +
        'once, for a leaked secret. Of two concurrent rotations one is rejected.',
      body: ROTATE_SECRET_BODY,
      bodyOptional: true,
      reply: ROTATED_SECRET_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ params: { id }, body, caller }) {
        const rotated = await webhooks.rotateSecret(requireCallerWallet(caller), id, body.secret);
        const { secret, verificationKey, secretSetAt } = rotated;
        const previousSecretUntil = rotated.previousSecretUntil?.toISOString() ?? null;
        return {
          body: { success: true as const, id, secret, verificationKey, secretSetAt: secretSetAt.toISOString(), previousSecretUntil },
        };
      },
    }),
    route(`POST ${WEBHOOK_PATH}/enable`, 'enableWebhook', {
      ...SINGLE_WEBHOOK_ROUTE,
      summary: 'Re-enables a webhook that its receiver or failures disabled',
      description:
        'Only later events are delivered; request missed ones with a replay. Idempotent on an active webhook; rejected where the operator disabled it.',
      reply: WEBHOOK_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ params: { id }, caller }) => ({ body: toWebhookReply(await webhooks.enable(requireCallerWallet(caller), id)) }),
    }),
    route(`POST ${WEBHOOK_PATH}/test`, 'testWebhook', {
      ...SINGLE_WEBHOOK_ROUTE,
      summary: 'Sends a signed `ping` now and returns the result',
      description:
        `Bypasses the queue, also for a disabled webhook, and does not change it. Takes at most 15 seconds; limited to one test per webhook in ${MIN_TEST_INTERVAL_SECONDS} seconds, ` +
        `${MAX_TESTS_PER_DAY} per wallet and UTC day, and a number per target host.`,
      reply: TEST_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ params: { id }, caller }) {
        const { state, messageId, attempts } = await webhooks.test(requireCallerWallet(caller), id);
        const { status, ms, reason } = attempts[0]!;
        return { body: { success: true as const, delivered: state === 'DELIVERED', status, ms, reason, messageId } };
      },
    }),
    route(`POST ${WEBHOOK_PATH}/replay`, 'replayToWebhook', {
      ...SINGLE_WEBHOOK_ROUTE,
      status: 202,
      summary: 'Resends subscribed events: one, or all since an id or a time',
      description:
        'Exactly one of `eventId`, `sinceId` and `sinceTime` (or `since`, its older name). Events are queued after pending ones, in id order, under the same `webhook-id`. ' +
        `Rejected while another replay to the webhook is queued, and beyond ${MAX_REPLAYED_EVENTS_PER_DAY} replayed events per wallet and UTC day.`,
      body: REPLAY_BODY,
      reply: REPLAY_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ params: { id }, body: { eventId, sinceId, since, sinceTime, until }, caller }) {
        if (since !== undefined && sinceTime !== undefined) {
          throw new OracleError('INPUT_INVALID', 'body field "sinceTime": cannot be combined with "since", its older name', {
            field: 'sinceTime',
            suggestedAction: 'Send one of them.',
          });
        }
        const times = { since: parseInstant(sinceTime ?? since), until: parseInstant(until) };
        return {
          body: { success: true as const, ...(await webhooks.replay(requireCallerWallet(caller), id, { eventId, sinceId, ...times })) },
        };
      },
    }),
    route(`GET ${WEBHOOK_PATH}/deliveries`, 'listWebhookDeliveries', {
      ...SINGLE_WEBHOOK_ROUTE,
      summary: 'Deliveries of a webhook, sent and pending, newest first, with the responses',
      description: `Kept for ${DELIVERY_RETENTION_DAYS.live} days, replays and tests for ${DELIVERY_RETENTION_DAYS.asked}. \`nextBefore\` is \`before\` of the next page.`,
      query: DELIVERIES_QUERY,
      reply: DELIVERIES_REPLY,
      errors: ['NOT_FOUND'],
      async handle({ params: { id }, query: { limit, ...query }, caller }) {
        // One more than the page holds shows whether another page follows.
        const found = await webhooks.listDeliveries(requireCallerWallet(caller), id, { ...query, limit: limit + 1 });
        const shown = found.slice(0, limit);
        const nextBefore = found.length > limit ? shown.at(-1)!.position : null;
        return { body: { success: true as const, deliveries: shown.map(toDeliveryReply), count: shown.length, nextBefore } };
      },
    }),
  ];
}

function toDeliveryReply(delivery: WebhookDeliveryDoc): z.input<typeof DELIVERY> {
  const { position, type, eventId, messageId, state, cause, attempts, nextAttemptAt, createdAt, finishedAt } = delivery;
  const isReplay = cause.startsWith(REPLAY_CAUSE_PREFIX);
  return {
    position,
    type,
    eventId,
    messageId,
    state,
    cause: isReplay ? 'replay' : type === 'ping' ? 'ping' : 'live',
    replayId: isReplay ? cause.slice(REPLAY_CAUSE_PREFIX.length) : null,
    attempts: attempts.map(({ at, status, ms, reason }) => ({ at: at.toISOString(), status, ms, reason })),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

function parseInstant(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

const STATUS = z.int().nullable().describe('HTTP status of the receiver; null without a response');
const MS = COUNT.describe('Duration of the call, milliseconds');
const REASON = z.string().nullable().describe('Machine-readable reason of the failure; null when delivered');
const MESSAGE_ID = z.string().describe('`webhook-id`: the same for the same event, for every attempt and webhook');

export const TEST_REPLY = z.object({
  success: SUCCESS,
  delivered: z.boolean().describe('Whether the receiver answered 2xx in time'),
  status: STATUS,
  ms: MS,
  reason: REASON,
  messageId: z.string().describe('`webhook-id`, unique per test'),
});

const instant = (what: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-01-31T00:00:00Z' })
    .max(40, 'must be a time such as 2026-01-31T00:00:00Z')
    .optional()
    .describe(what);

const eventId = (least: number) => {
  const error = `must be an event id: a whole number from ${least}`;
  return z.int(error).min(least, error).optional();
};

const REPLAY_BODY = withInputRules(
  z.strictObject({
    eventId: eventId(1).describe('A single event'),
    sinceId: eventId(0).describe('All events with a higher id; 0: all'),
    sinceTime: instant(`All events with this \`timestamp\` or a later one, ISO 8601; at most ${EVENT_RETENTION_DAYS} days ago`),
    since: instant('Older name of `sinceTime`: a time, while `since` of the WebSocket is an id'),
    until: instant('With `sinceTime` or `sinceId`: only events before this time, ISO 8601, which is later than `sinceTime`'),
  }),
  {
    oneOf: ['eventId', 'sinceId', 'sinceTime', 'since'].map((name) => ({ required: [name] })),
    // `until` is invalid with a single event.
    anyOf: [{ maxProperties: 1 }, ...['sinceId', 'sinceTime', 'since'].map((name) => ({ required: [name] }))],
  },
);

export const REPLAY_REPLY = z.object({
  success: SUCCESS,
  replayId: z.uuid().nullable().describe('Id of the replay in the deliveries; null when nothing was replayed'),
  queued: COUNT.describe('Queued events, after pending ones and in id order'),
  from: z.int().min(1).nullable().describe('First event id; null when there is none'),
  to: z.int().min(1).nullable().describe('Last event id; null when there is none'),
});

const DELIVERIES_QUERY = z.object({
  limit: limitInput(100, 20),
  before: beforeInput.describe('Only deliveries before this position: `nextBefore` of the previous page'),
  state: z
    .enum(DELIVERY_STATES, { error: `must be one of ${DELIVERY_STATES.join(', ')}` })
    .optional()
    .describe('Only deliveries in this state'),
});

const ATTEMPT = z.object({ at: TIME.describe('Time of the attempt'), status: STATUS, ms: MS, reason: REASON });

const DELIVERY = z.object({
  position: z.int().min(1).describe('Position in the queue: deliveries are sent in this order'),
  type: z.enum([...PUSHED_NAMES, 'ping']).describe('Event type; ping: a test'),
  eventId: z.int().min(1).nullable().describe('Event id; null for a test'),
  messageId: MESSAGE_ID,
  cause: z.enum(['live', 'replay', 'ping']).describe('live: a new event; replay: requested again; ping: a test'),
  replayId: z.uuid().nullable().describe('Replay id; null for others'),
  state: z
    .enum(DELIVERY_STATES)
    .describe(
      'PENDING: waits for its turn or next attempt; DELIVERED: answered 2xx; FAILED: all attempts failed; CANCELLED: the webhook was disabled',
    ),
  attempts: z.array(ATTEMPT).describe('Attempts, oldest first'),
  nextAttemptAt: TIME.nullable().describe('Earliest next attempt; null while it waits for earlier ones, and once finished'),
  createdAt: TIME.describe('When it was queued'),
  finishedAt: TIME.nullable().describe('When it finished; null while PENDING'),
});

export const DELIVERIES_REPLY = z.object({
  success: SUCCESS,
  deliveries: z.array(DELIVERY).describe('Newest first'),
  count: COUNT.describe('Length of `deliveries`'),
  nextBefore: z.int().min(1).nullable().describe('`before` of the next page; null on the last'),
});
