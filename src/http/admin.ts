import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { type Collection, type Db, ObjectId } from 'mongodb';
import { z } from 'zod';
import { type ErrorCode, isOracleError, OracleError } from '../errors.ts';
import { WEBHOOK_STATUSES } from '../events/webhooks/store.ts';
import type { Log } from '../platform/log.ts';
import { ADDRESS, COUNT, DATE, SUCCESS, TIME, withInputRules } from '../platform/validation.ts';
import type { WagerSwitch } from '../wager/wagers.ts';
import type { Guard } from './guard.ts';
import { STEP_RUN, type Status } from './schemas/health.ts';
import { buildNotFoundError, type RequestSource } from './security.ts';

export const ADMIN_PATH = '/admin';

/** Serves the admin page to the operator; other clients cannot probe which paths exist. */
export function createAdminArea(guard: Guard, page: RequestHandler | undefined): RequestHandler[] {
  const admit: RequestHandler = async (request, response, next) => {
    await guard({ access: 'admin', cost: 'normal' }, request, response, () => response.vary('Authorization'));
    next();
  };
  const rejectUnknownPath: RequestHandler = () => {
    throw buildNotFoundError();
  };
  return page === undefined ? [admit, rejectUnknownPath] : [admit, page, rejectUnknownPath];
}

type AdminStepName = (typeof ADMIN_STEP_NAMES)[number];

export interface AdminStepResult {
  step: AdminStepName;
  /** `YYYY-MM-DD`. */
  date: string;
  state: (typeof ADMIN_STEP_STATES)[number];
  /** Result, reason to wait, or error message. */
  detail: string;
}

export interface AdminService {
  audit: AuditLog;
  wagerSwitch: WagerSwitch;
  /** Whether the settings disable new wagers, regardless of the switch. */
  wagersOff: boolean;
  steps(): Promise<Status['steps']>;
  /** @throws OracleError INPUT_INVALID naming `day`, CONFLICT before the scheduled time of the step, STEP_WAITING during startup */
  runStep(step: AdminStepName, date: string | undefined): Promise<AdminStepResult>;
}

/** An entry stays `begun` where the process ended before its action, or failed to write the end. */
const AUDIT_STATES = ['begun', 'done', 'failed'] as const;

export interface AuditedAction {
  /** Such as `wagers.pause`. */
  action: string;
  /** Without secrets. */
  parameters: Record<string, string>;
  source: RequestSource;
}

/** One action of the operator. Entries are inserted and completed, never deleted. */
interface AuditEntry extends RequestSource, Omit<AuditedAction, 'source'> {
  _id: ObjectId;
  at: Date;
  user: string;
  state: (typeof AUDIT_STATES)[number];
  endedAt: Date | null;
  errorCode: ErrorCode | null;
  result: string | null;
}

export const AUDIT_INDEXES = [{ collection: 'admin_audit', indexes: [{ key: { at: -1, _id: -1 } }] }];

const MAX_RESULT_CHARS = 500;
/** Room for as many ids as a request of the jobs page may have. */
const MAX_PARAMETER_CHARS = 5_000;

export class AuditLog {
  readonly #entries: Collection<AuditEntry>;
  readonly #deps: { user: string; log: Log; now(): Date };

  constructor(deps: { db: Db; user: string; log: Log; now(): Date }) {
    this.#deps = deps;
    this.#entries = deps.db.collection('admin_audit');
  }

  /** The entry is written first: no action goes unrecorded. @throws OracleError DATABASE_UNAVAILABLE; errors of the action */
  async run<T>(auditedAction: AuditedAction, work: () => Promise<T>, describeResult: (result: T) => string): Promise<T> {
    const id = await this.#begin(auditedAction);
    try {
      const result = await work();
      await this.#end(id, { state: 'done', errorCode: null, result: describeResult(result) });
      return result;
    } catch (error) {
      // The message of an unknown error may contain secrets: it is logged, not recorded.
      const [errorCode, result] = isOracleError(error) ? [error.code, error.message] : (['INTERNAL', null] as const);
      await this.#end(id, { state: 'failed', errorCode, result });
      throw error;
    }
  }

  /** Newest first. */
  listNewest(limit: number): Promise<AuditEntry[]> {
    return this.#entries.find({}).sort({ at: -1, _id: -1 }).limit(limit).toArray();
  }

  async #begin({ action, parameters, source }: AuditedAction): Promise<ObjectId> {
    const { user, now } = this.#deps;
    const entry: AuditEntry = {
      _id: new ObjectId(),
      at: now(),
      user,
      ...source,
      action,
      parameters: Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, text.slice(0, MAX_PARAMETER_CHARS)])),
      state: 'begun',
      endedAt: null,
      errorCode: null,
      result: null,
    };
    try {
      await this.#entries.insertOne(entry);
      return entry._id;
    } catch (cause) {
      throw new OracleError('DATABASE_UNAVAILABLE', 'The audit log is unavailable: nothing was done', { cause });
    }
  }

  /** A failed write does not change the response: the action has taken place. */
  async #end(_id: ObjectId, { result, ...end }: Pick<AuditEntry, 'state' | 'errorCode' | 'result'>): Promise<void> {
    const { now, log } = this.#deps;
    const set = { ...end, result: result?.slice(0, MAX_RESULT_CHARS) ?? null, endedAt: now() };
    try {
      await this.#entries.updateOne({ _id, state: 'begun' }, { $set: set });
    } catch (error) {
      log.error({ err: error, entry: _id.toHexString(), ...end }, 'the end of an admin action could not be recorded');
    }
  }
}

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

const ADMIN_STEP_STATES = ['done', 'waiting', 'failed'] as const;

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

const REVOKE = z.boolean('must be true or false').default(false);

export const ROTATE_BODY = z.strictObject({
  revoke: REVOKE.describe(
    'True: tokens of earlier keys are revoked, in other processes within a minute; false: they stay valid until they expire',
  ),
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

export const WAGER_SWITCH_REPLY = z
  .object({
    success: SUCCESS,
    changed: z.boolean().describe('False: already in this state'),
    paused: z.boolean().describe('Whether new wagers are paused; open ones still settle'),
    since: TIME.nullable().describe('When this state began; null where the switch was never used'),
    reason: z.string().nullable().describe('Reason for the pause; null while not paused'),
    offBySettings: z.boolean().describe('True: WAGERS or WAGER_KILL_SWITCH disables new wagers, regardless of this switch'),
  })
  .meta({ id: 'WagerSwitchResponse' });

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
  revoke: REVOKE.describe(
    'True: earlier keys are no longer published, and their cards no longer verify; false: they verify until the keys retire',
  ),
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

export interface Credentials {
  user: string;
  password: string;
}

/** HTTP Basic (RFC 7617, UTF-8) in constant time: both parts are compared as HMACs, so that the duration reveals neither. */
export function createCredentialCheck({ user, password }: Credentials): (authorization: string | undefined) => boolean {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  const [expectedUser, expectedPassword] = [digest(user), digest(password)];
  return (authorization) => {
    const credentials = parseCredentials(authorization);
    const isUserValid = timingSafeEqual(digest(credentials.user), expectedUser);
    const isPasswordValid = timingSafeEqual(digest(credentials.password), expectedPassword);
    return isUserValid && isPasswordValid;
  };
}

/** Empty strings, which are never valid, where the header is absent or malformed. */
function parseCredentials(authorization = ''): Credentials {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return { user, password };
}
