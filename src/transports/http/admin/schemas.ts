import { z } from 'zod';
import { WEBHOOK_STATUSES } from '../../../events/webhooks/registry/webhook.ts';
import { ADDRESS, COUNT, DATE, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { withInputRules } from '../../../platform/validation/input-rules.ts';
import { STEP_RUN } from '../service/health/status-schemas.ts';
import { AUDIT_STATES } from './audit-log.ts';

/** Steps that can be run by hand, in the order of the day. */
export const ADMIN_STEP_NAMES = [
  'signal',
  'attest',
  'wager',
  'open-window',
  'resolve',
  'settle',
  'reputation',
  'brief',
  'weekly-report',
  'backtest',
  'diagnostics',
] as const;

export const ADMIN_STEP_STATES = ['done', 'waiting', 'failed'] as const;

const MAX_REASON_CHARS = 200;

/** Why the operator does something, in his own words. */
const REASON = withInputRules(
  z
    .string({ error: 'must be a text' })
    .max(MAX_REASON_CHARS, `must have at most ${MAX_REASON_CHARS} characters`)
    .refine((text) => text.trim() !== '' && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), 'must be words on one line'),
  { pattern: '^(?=.*\\S)[^\\p{C}\\p{Zl}\\p{Zp}]*$' },
);

export const STEP_BODY = z.strictObject({
  day: z.iso
    .date('must be a date of the form YYYY-MM-DD')
    .optional()
    .describe('Of signal, wager and brief: the day to run them for, UTC; today unless told. The others take none: they do what is due now'),
});

export const PAUSE_BODY = z.strictObject({ reason: REASON.describe('Why; for the audit log, shown to nobody else') });

export const DISABLE_BODY = z.strictObject({ reason: REASON.describe('Why; the owner of the webhook sees it') });

export const ROTATE_BODY = z.strictObject({
  revoke: z
    .boolean('must be true or false')
    .default(false)
    .describe('True: all tokens of earlier keys end now, in other processes within a minute; false: each stays valid until it expires'),
});

/** `GET /admin/steps`. */
export const STEPS_REPLY = z.object({
  success: SUCCESS,
  steps: z.array(STEP_RUN).describe('The newest run of every step; one that never ran is not in it'),
  now: TIME.describe("This process's clock"),
});

/** `POST /admin/steps/{step}`. */
export const STEP_REPLY = z.object({
  success: SUCCESS,
  step: z.enum(ADMIN_STEP_NAMES).describe('What was run'),
  date: DATE.describe('For which day'),
  state: z.enum(ADMIN_STEP_STATES).describe('How it ended: `waiting` is tried again by the schedule, `failed` needs a person'),
  detail: z.string().describe('What it did, what it waits for, or why it failed'),
});

/** `POST /admin/wagers/pause` and `POST /admin/wagers/resume`. */
export const WAGER_SWITCH_REPLY = z.object({
  success: SUCCESS,
  changed: z.boolean().describe('False: it stood there already, and nothing was changed'),
  paused: z.boolean().describe('Whether new wagers are held back now; open ones settle all the same'),
  since: TIME.nullable().describe('When that began; null where the switch was never turned'),
  reason: z.string().nullable().describe('Why they are paused; null while they are not'),
  offBySettings: z.boolean().describe('True: WAGERS or WAGER_KILL_SWITCH hold back new wagers, whatever this switch says'),
});

/** `POST /admin/webhooks/{id}/disable`. */
export const DISABLED_REPLY = z.object({
  success: SUCCESS,
  id: z.uuid().describe('The webhook'),
  status: z.enum(WEBHOOK_STATUSES).describe('disabled: no event goes there any more'),
  disabledAt: TIME.nullable().describe('When it was disabled; null while active'),
  disabledReason: z.string().nullable().describe('Why, in the words of whoever disabled it first'),
});

/** `POST /admin/keys/rotate`. */
export const ROTATED_REPLY = z.object({
  success: SUCCESS,
  kid: z.string().describe('Name of the key that signs tokens from now on'),
  revokedKids: z.array(z.string()).describe('Names of the keys whose tokens have ended; empty unless that was asked for'),
});

/** `POST /admin/card-keys/rotate`. */
export const ROTATE_CARD_BODY = z.strictObject({
  revoke: z
    .boolean('must be true or false')
    .default(false)
    .describe('True: cards under earlier keys cannot be checked any more, since those keys are not published; false: they can for a while'),
});

export const CARD_KEY_REPLY = z.object({
  success: SUCCESS,
  kid: z.string().describe('Name of the key that the agent card is signed with from now on'),
});

/** `POST /admin/wallets/{wallet}/revoke`. */
export const REVOKED_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('Whose sessions'),
  sessions: COUNT.describe('How many were ended; their tokens are refused from now on. The wallet may log in again'),
});

const AUDIT_ENTRY = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{24}$/)
    .describe('Names this entry'),
  at: TIME.describe('When the action began'),
  user: z.string().describe('Who did it'),
  address: z.string().describe('From where, as the limits count it: an IPv4 address, or the /64 of an IPv6 one'),
  action: z.string().describe('What was done'),
  parameters: z.record(z.string(), z.string()).describe('What it was done with, as text'),
  requestId: z.string().describe('X-Request-Id of the request'),
  state: z
    .enum(AUDIT_STATES)
    .describe('`begun` is written before the action, and stays where the process ended before it: whether it was done has to be looked up'),
  endedAt: TIME.nullable().describe('When it was done or failed; null before'),
  errorCode: z.string().nullable().describe('Code of the error that it failed with; null unless it did'),
  result: z.string().nullable().describe('What came of it, in words; null where there are none'),
});

/** `GET /admin/audit`. */
export const AUDIT_REPLY = z.object({
  success: SUCCESS,
  entries: z.array(AUDIT_ENTRY).describe('What the operator did, newest first'),
  count: COUNT.describe('Length of `entries`'),
});
