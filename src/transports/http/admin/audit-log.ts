import { type Collection, type Db, ObjectId } from 'mongodb';
import { type ErrorCode, isOracleError, OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { RequestSource } from '../server/security/request-log.ts';

/** An entry stays `begun` where the process ended before its action, or failed to write the end. */
export const AUDIT_STATES = ['begun', 'done', 'failed'] as const;

export interface AuditedAction {
  /** Such as `wagers.pause`. */
  action: string;
  /** Without secrets. */
  parameters: Record<string, string>;
  source: RequestSource;
}

/** One action of the operator. Entries are inserted and completed, never deleted. */
export interface AuditEntry {
  _id: ObjectId;
  at: Date;
  user: string;
  /** Rate-limit key: an IPv4 address, or an IPv6 /64. */
  address: string;
  action: string;
  parameters: Record<string, string>;
  requestId: string;
  state: (typeof AUDIT_STATES)[number];
  endedAt: Date | null;
  errorCode: ErrorCode | null;
  result: string | null;
}

export const AUDIT_INDEXES = [{ collection: 'admin_audit', indexes: [{ key: { at: -1, _id: -1 } }] }];

interface AuditLogDeps {
  db: Db;
  user: string;
  log: Log;
  now(): Date;
}

const MAX_RESULT_CHARS = 500;
/** Room for as many ids as a request of the jobs page may have. */
const MAX_PARAMETER_CHARS = 5_000;

export class AuditLog {
  readonly #entries: Collection<AuditEntry>;
  readonly #deps: AuditLogDeps;

  constructor(deps: AuditLogDeps) {
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
      await this.#end(id, toFailedEntry(error));
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
      parameters: truncateParameters(parameters),
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

function truncateParameters(parameters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, text.slice(0, MAX_PARAMETER_CHARS)]));
}

/** The message of an unknown error may contain secrets: it is logged, not recorded. */
function toFailedEntry(error: unknown): Pick<AuditEntry, 'state' | 'errorCode' | 'result'> {
  if (!isOracleError(error)) return { state: 'failed', errorCode: 'INTERNAL', result: null };
  return { state: 'failed', errorCode: error.code, result: error.message };
}
