import { z } from 'zod';
import { PUSHED_NAMES } from '../../../events/event-names.ts';
import { HORIZON_FIELD, HORIZONS_FIELD, ONE_CHOICE, ONE_CHOICE_RULE } from '../../../events/horizon-choice.ts';
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
const once = { error: 'must name each of them once' };

/** Path of the operations on one webhook. */
export const WEBHOOK_ID = z.object({
  id: z.uuid('must be the id of a webhook: a UUID').toLowerCase().describe('Id of a webhook of your own'),
});

const url = withInputRules(
  z
    .string({ error: 'must be an https URL' })
    .min(1, 'must be an https URL')
    .max(MAX_URL_CHARS, `must have at most ${MAX_URL_CHARS} characters`),
  { format: 'uri', pattern: CALLBACK_PATTERN },
);
const URL_RULE =
  'https, on a host of the public internet, without credentials and fragment. ' +
  'Each of its addresses must be public; a name that cannot be looked up at present is taken, and checked before each call';

const events = withInputRules(
  z
    .array(event, { error: `must be a list of ${PUSHED_NAMES.join(', ')}` })
    .min(1, 'must name at least one event')
    .max(PUSHED_NAMES.length, once)
    .refine(unique, once),
  { uniqueItems: true },
);

const horizon = HORIZON_FIELD.optional().describe('One horizon, such as `7d`, `"7"` or 7, in place of `horizons`');

const secret = withInputRules(
  z.string({ error: `must be ${SECRET_RULE}` }).max(MAX_SECRET_LENGTH, `must have at most ${MAX_SECRET_LENGTH} characters`),
  { pattern: SECRET_PATTERN },
).optional();

/** Body of `POST /api/svc/webhooks/register` (interface, section 4.3). */
export const REGISTER_BODY = withInputRules(
  z
    .strictObject({
      url: url.describe(`The callback: ${URL_RULE}`),
      events: events.describe('What it is called for'),
      horizon,
      horizons: HORIZONS_FIELD.optional().describe(
        'Of events that have a horizon only these, or `all`; without it and without `horizon`: `7d`',
      ),
      secret: secret.describe(`Shared secret that calls are signed with: ${SECRET_RULE}; left out: one is made`),
    })
    .refine(...ONE_CHOICE),
  ONE_CHOICE_RULE,
);

/** Body of `PATCH /api/svc/webhooks/{id}`. */
export const CHANGE_BODY = withInputRules(
  z
    .strictObject({
      url: url.optional().describe(`Another callback: ${URL_RULE}`),
      events: events.optional().describe('All that it is called for from now on'),
      horizon,
      horizons: HORIZONS_FIELD.nullable()
        .optional()
        .describe('Of events that have a horizon only these from now on; `all` or null: all. Without it and without `horizon` they stay'),
    })
    .refine(...ONE_CHOICE),
  ONE_CHOICE_RULE,
);

/** Body of `POST /api/svc/webhooks/{id}/secret`. */
export const ROTATE_SECRET_BODY = z.strictObject({
  secret: secret.describe(`The new secret: ${SECRET_RULE}; left out: one is made. The one that is set already changes nothing`),
});

const WEBHOOK = z.object({
  id: z.uuid().describe('Names it'),
  url: z.string().describe('The callback, in its normal spelling'),
  events: z.array(z.enum(PUSHED_NAMES)).describe('What it is called for'),
  horizons: z
    .array(z.enum(HORIZONS.map(formatHorizonName)))
    .nullable()
    .describe('Of events that have a horizon only these; null: all'),
  status: z
    .enum(WEBHOOK_STATUSES)
    .describe(
      'suspended: its wallet has lost the Basic tier, and its events wait; disabled: it is called for nothing. Both still count to the limit until they are deleted',
    ),
  suspendedAt: TIME.nullable().describe('When it was suspended; null while it is not'),
  disabledAt: TIME.nullable().describe('When it was disabled; null while active'),
  disabledReason: z.string().nullable().describe('Why it was disabled; null while active'),
  disabledBy: z
    .enum(DISABLERS)
    .nullable()
    .describe(
      'operator: for good; receiver: it answered 410; failures: every attempt failed for five days. The last two can be enabled again. null while active',
    ),
  failingSince: TIME.nullable().describe('Since when every attempt has failed; null after a success'),
  createdAt: TIME.describe('When it was registered'),
  secretSetAt: TIME.describe('When its secret was set; the secret itself is told then, and never again'),
  previousSecretUntil: TIME.nullable().describe(
    'Until then calls carry a signature by the secret before, too; null: only by the one that is set',
  ),
});

const SHOWN_SECRET = z
  .string()
  .describe('The shared secret, told this once: keep it. After whsec_ comes base64 of the key; any other text is the key itself');

/** The answer to a registration. */
export const REGISTERED_REPLY = z.object({ success: SUCCESS, ...WEBHOOK.shape, secret: SHOWN_SECRET });

/** `POST /api/svc/webhooks/{id}/secret`: beside a registration the only answer that tells a secret. */
export const ROTATED_SECRET_REPLY = z.object({
  success: SUCCESS,
  id: WEBHOOK.shape.id,
  secret: SHOWN_SECRET,
  secretSetAt: WEBHOOK.shape.secretSetAt,
  previousSecretUntil: TIME.nullable().describe(
    `Until then, ${PREVIOUS_SECRET_HOURS} hours from the change, calls carry a signature by each of the two secrets; null when nothing was changed and only one signs`,
  ),
});

/** `GET` and `PATCH /api/svc/webhooks/{id}`, and what enables it. */
export const WEBHOOK_REPLY = z.object({ success: SUCCESS, ...WEBHOOK.shape });

/** `GET /api/svc/webhooks`. */
export const WEBHOOKS_REPLY = z.object({
  success: SUCCESS,
  webhooks: z.array(WEBHOOK).describe("The caller's own, oldest first"),
  count: COUNT.describe('Length of `webhooks`'),
  limit: z.literal(MAX_WEBHOOKS_PER_WALLET).describe('How many a wallet can have'),
});

/** `DELETE /api/svc/webhooks/{id}`. */
export const WEBHOOK_DELETED_REPLY = z.object({ success: SUCCESS, id: z.uuid().describe('The webhook that is no more') });
