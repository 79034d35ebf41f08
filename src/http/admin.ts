import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Collection, type Db, ObjectId } from 'mongodb';
import { type ErrorCode, isOracleError, OracleError } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import type { WagerSwitch } from '../wager/wagers.ts';
import type { RequestSource } from './request.ts';
import type { Status } from './schemas/health.ts';

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
export const AUDIT_STATES = ['begun', 'done', 'failed'] as const;

export interface AuditedAction {
  /** Such as `wagers.pause`. */
  action: string;
  /** Without secrets. */
  parameters: Record<string, string>;
  source: RequestSource;
}

/** One action of the operator. Entries are inserted and completed, and changed by nothing else. */
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

export const ADMIN_STEP_STATES = ['done', 'waiting', 'failed'] as const;

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
