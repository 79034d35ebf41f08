import { type Collection, type Db, ObjectId } from 'mongodb';
import { type ErrorCode, isOracleError, OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { RequestSource } from '../server/security/request-log.ts';

/** `begun`: written before the action; it stays so where the process ended before the action did, or could not write its end. */
export const AUDIT_STATES = ['begun', 'done', 'failed'] as const;

/** What the operator does. */
export interface AuditedAction {
  /** A plain name such as `wagers.pause`. */
  action: string;
  /** What it was done with, as text; no secrets. */
  parameters: Record<string, string>;
  source: RequestSource;
}

/** One action of the operator's. Entries are written and completed, and never deleted. */
export interface AuditEntry {
  _id: ObjectId;
  at: Date;
  user: string;
  /** As the limits count it: an IPv4 address, or the /64 of an IPv6 one. */
  address: string;
  action: string;
  parameters: Record<string, string>;
  /** What the log and the answer name the request by. */
  requestId: string;
  state: (typeof AUDIT_STATES)[number];
  endedAt: Date | null;
  /** Null unless it failed. */
  errorCode: ErrorCode | null;
  /** What came of it, in words. */
  result: string | null;
}

export const AUDIT_INDEXES = [{ collection: 'admin_audit', indexes: [{ key: { at: -1, _id: -1 } }] }];

export interface AuditLogOptions {
  db: Db;
  /** Who the operator is. */
  user: string;
  log: Log;
  now(): Date;
}

const MAX_RESULT_CHARS = 500;
/** As many ids as the page on jobs may name at once. */
const MAX_PARAMETER_CHARS = 5_000;

/** What the operator did. */
export class AuditLog {
  readonly #entries: Collection<AuditEntry>;
  readonly #options: AuditLogOptions;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#entries = options.db.collection('admin_audit');
  }

  /**
   * Does something on the record: nothing is done that could not be written down before. `wordsOf` tells what came of it.
   * @throws OracleError DATABASE_UNAVAILABLE when the entry could not be written; whatever the work throws.
   */
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

  /** The latest entries, newest first. */
  listNewest(limit: number): Promise<AuditEntry[]> {
    return this.#entries.find({}).sort({ at: -1, _id: -1 }).limit(limit).toArray();
  }

  async #begin({ action, parameters, source }: AuditedAction): Promise<ObjectId> {
    const { user, now } = this.#options;
    const entry: AuditEntry = {
      ...{ _id: new ObjectId(), at: now(), user, ...source, action, parameters: truncateParameters(parameters) },
      ...{ state: 'begun', endedAt: null, errorCode: null, result: null },
    };
    try {
      await this.#entries.insertOne(entry);
      return entry._id;
    } catch (cause) {
      throw new OracleError('DATABASE_UNAVAILABLE', 'The audit log cannot be written: nothing was done', { cause });
    }
  }

  /** What happened has happened: an end that cannot be written does not change the answer. */
  async #end(_id: ObjectId, { result, ...end }: Pick<AuditEntry, 'state' | 'errorCode' | 'result'>): Promise<void> {
    const { now, log } = this.#options;
    const set = { ...end, result: result?.slice(0, MAX_RESULT_CHARS) ?? null, endedAt: now() };
    try {
      await this.#entries.updateOne({ _id, state: 'begun' }, { $set: set });
    } catch (error) {
      log.error({ err: error, entry: _id.toHexString(), ...end }, 'the end of an action of the operator could not be written');
    }
  }
}

function truncateParameters(parameters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, text.slice(0, MAX_PARAMETER_CHARS)]));
}

/** What is not one of our own errors may say anything: its message stays in the log. */
function toFailedEntry(error: unknown): Pick<AuditEntry, 'state' | 'errorCode' | 'result'> {
  if (!isOracleError(error)) return { state: 'failed', errorCode: 'INTERNAL', result: null };
  return { state: 'failed', errorCode: error.code, result: error.message };
}
