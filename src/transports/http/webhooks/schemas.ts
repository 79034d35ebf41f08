import { z } from 'zod';
import { PUSHED_NAMES } from '../../../events/event-names.ts';
import { HORIZON_FIELD, HORIZONS_FIELD, ONE_CHOICE, ONE_CHOICE_RULE } from '../../../events/horizon-choice.ts';
import { CHAT_FORMATS } from '../../../events/webhooks/formats/chats/chat-formats.ts';
import { CHAT_ID_PATTERN } from '../../../events/webhooks/formats/chats/telegram.ts';
import { CHAT_NAMES, WEBHOOK_FORMATS } from '../../../events/webhooks/formats/webhook-formats.ts';
import { CALLBACK_PATTERN, SECRET_PATTERN } from '../../../events/webhooks/registry/input-patterns.ts';
import { DISABLERS, WEBHOOK_STATUSES } from '../../../events/webhooks/registry/webhook.ts';
import { MAX_WEBHOOKS_PER_WALLET } from '../../../events/webhooks/registry/webhook-store.ts';
import { PREVIOUS_SECRET_HOURS } from '../../../events/webhooks/signing/rotate-secret.ts';
import { MAX_SECRET_LENGTH, SECRET_RULE } from '../../../events/webhooks/signing/secret.ts';
import { formatHorizonName, HORIZONS } from '../../../forecast/model.ts';
import { MAX_URL_CHARS } from '../../../platform/outbound/target.ts';
import { COUNT, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { withInputRules } from '../../../platform/validation/input-rules.ts';

const event = z.enum(PUSHED_NAMES, { error: `must be one of ${PUSHED_NAMES.join(', ')}` });
const unique = (values: readonly string[]) => new Set(values).size === values.length;
const once = { error: 'must not repeat a value' };

export const WEBHOOK_ID = z.object({
  id: z.uuid('must be the id of a webhook: a UUID').toLowerCase().describe('Id of a webhook of this wallet'),
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

export const REGISTER_BODY = withInputRules(
  z
    .strictObject({
      url: url.describe(`Webhook URL: ${URL_RULE}`),
      format: format.optional(),
      chatId: chatId.optional(),
      events: events.describe('Subscribed events'),
      horizon,
      horizons: HORIZONS_FIELD.optional().describe('Horizons of events that have one, or `all`; default without `horizon`: `7d`'),
      secret: secret.describe(`Signing secret: ${SECRET_RULE}; generated where omitted`),
    })
    .refine(...ONE_CHOICE)
    .refine(...ID_OF_CHAT),
  REGISTRATION_RULES,
);

export const CHANGE_BODY = withInputRules(
  z
    .strictObject({
      url: url.optional().describe(`New webhook URL, of the same format: ${URL_RULE}`),
      chatId: chatId.optional(),
      events: events.optional().describe('Subscribed events, replacing the previous ones'),
      horizon,
      horizons: HORIZONS_FIELD.nullable()
        .optional()
        .describe('Horizons of events that have one; `all` or null: all. Unchanged where omitted with `horizon`'),
    })
    .refine(...ONE_CHOICE),
  ONE_CHOICE_RULE,
);

export const ROTATE_SECRET_BODY = z.strictObject({
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

const SHOWN_SECRET = z
  .string()
  .describe('Signing secret, returned only now. After whsec_ follows base64 of the key; any other text is the key itself');

export const REGISTERED_REPLY = z.object({ success: SUCCESS, ...WEBHOOK.shape, secret: SHOWN_SECRET });

/** `POST /api/svc/webhooks/{id}/secret`: besides a registration the only reply with a secret. */
export const ROTATED_SECRET_REPLY = z.object({
  success: SUCCESS,
  id: WEBHOOK.shape.id,
  secret: SHOWN_SECRET,
  secretSetAt: WEBHOOK.shape.secretSetAt,
  previousSecretUntil: TIME.nullable().describe(
    `Until when both secrets sign, ${PREVIOUS_SECRET_HOURS} hours from the change; null when nothing changed and only one signs`,
  ),
});

/** `GET` and `PATCH /api/svc/webhooks/{id}`, `POST /api/svc/webhooks/{id}/enable`. */
export const WEBHOOK_REPLY = z.object({ success: SUCCESS, ...WEBHOOK.shape });

export const WEBHOOKS_REPLY = z.object({
  success: SUCCESS,
  webhooks: z.array(WEBHOOK).describe('Webhooks of the caller, oldest first'),
  count: COUNT.describe('Length of `webhooks`'),
  limit: z.literal(MAX_WEBHOOKS_PER_WALLET).describe('Webhooks per wallet'),
});

export const WEBHOOK_DELETED_REPLY = z.object({ success: SUCCESS, id: z.uuid().describe('Deleted webhook') });
