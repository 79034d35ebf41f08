import { z } from 'zod';
import { WEBHOOK_STATUSES } from '../../../events/webhooks/registry/webhook.ts';
import { ADDRESS, COUNT, DATE, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { withInputRules } from '../../../platform/validation/input-rules.ts';
import { STEP_RUN } from '../service/health/status-schemas.ts';
import { AUDIT_STATES } from './audit-log.ts';

/** Steps that an operator can run, in daily order. */
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

const REASON = withInputRules(
  z
    .string({ error: 'must be a text' })
    .max(MAX_REASON_CHARS, `must have at most ${MAX_REASON_CHARS} characters`)
    .refine((text) => text.trim() !== '' && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), 'must be a single non-empty line'),
  { pattern: '^(?=.*\\S)[^\\p{C}\\p{Zl}\\p{Zp}]*$' },
);

export const STEP_BODY = z.strictObject({
  day: z.iso
    .date('must be a date of the form YYYY-MM-DD')
    .optional()
    .describe('For `signal`, `wager` and `brief`: UTC day to run; default today. Other steps take none and run what is due'),
});

export const PAUSE_BODY = z.strictObject({ reason: REASON.describe('Reason for the audit log, not published') });

export const DISABLE_BODY = z.strictObject({ reason: REASON.describe('Reason, visible to the owner of the webhook') });

export const ROTATE_BODY = z.strictObject({
  revoke: z
    .boolean('must be true or false')
    .default(false)
    .describe('True: tokens of earlier keys are revoked, in other processes within a minute; false: they stay valid until they expire'),
});

export const STEPS_REPLY = z.object({
  success: SUCCESS,
  steps: z.array(STEP_RUN).describe('Latest run of every step that has run'),
  now: TIME.describe('Clock of this process'),
});

export const STEP_REPLY = z.object({
  success: SUCCESS,
  step: z.enum(ADMIN_STEP_NAMES).describe('Step that was run'),
  date: DATE.describe('Day it ran for'),
  state: z.enum(ADMIN_STEP_STATES).describe('`waiting` is retried by the schedule, `failed` needs an operator'),
  detail: z.string().describe('Result, what it waits for, or the error'),
});

export const WAGER_SWITCH_REPLY = z.object({
  success: SUCCESS,
  changed: z.boolean().describe('False: already in this state'),
  paused: z.boolean().describe('Whether new wagers are paused; open ones still settle'),
  since: TIME.nullable().describe('When this state began; null where the switch was never used'),
  reason: z.string().nullable().describe('Reason for the pause; null while not paused'),
  offBySettings: z.boolean().describe('True: WAGERS or WAGER_KILL_SWITCH disables new wagers, regardless of this switch'),
});

export const DISABLED_REPLY = z.object({
  success: SUCCESS,
  id: z.uuid().describe('Webhook id'),
  status: z.enum(WEBHOOK_STATUSES).describe('`disabled`: receives no more events'),
  disabledAt: TIME.nullable().describe('When it was disabled; null while active'),
  disabledReason: z.string().nullable().describe('Reason of the first disabling'),
});

export const ROTATED_REPLY = z.object({
  success: SUCCESS,
  kid: z.string().describe('Id of the new signing key'),
  revokedKids: z.array(z.string()).describe('Ids of the revoked keys; empty unless requested'),
});

export const ROTATE_CARD_BODY = z.strictObject({
  revoke: z
    .boolean('must be true or false')
    .default(false)
    .describe('True: earlier keys are no longer published, and their cards no longer verify; false: they verify until the keys retire'),
});

export const CARD_KEY_REPLY = z.object({
  success: SUCCESS,
  kid: z.string().describe('Id of the new signing key of the agent card'),
});

export const REVOKED_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('Wallet of the sessions and API keys'),
  sessions: COUNT.describe('Number of revoked sessions and API keys; the wallet may log in again'),
});

const AUDIT_ENTRY = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{24}$/)
    .describe('Id of the entry'),
  at: TIME.describe('Start of the action'),
  user: z.string().describe('User name'),
  address: z.string().describe('Client address as rate limits count it: an IPv4 address, or an IPv6 /64'),
  action: z.string().describe('Action'),
  parameters: z.record(z.string(), z.string()).describe('Parameters, as text'),
  requestId: z.string().describe('`X-Request-Id` of the request'),
  state: z
    .enum(AUDIT_STATES)
    .describe('`begun` is written before the action; it remains where the process died, and the outcome is unknown'),
  endedAt: TIME.nullable().describe('End of the action; null before'),
  errorCode: z.string().nullable().describe('Error code; null unless it failed'),
  result: z.string().nullable().describe('Result as text; null where there is none'),
});

export const AUDIT_REPLY = z.object({
  success: SUCCESS,
  entries: z.array(AUDIT_ENTRY).describe('Operator actions, newest first'),
  count: COUNT.describe('Length of `entries`'),
});
