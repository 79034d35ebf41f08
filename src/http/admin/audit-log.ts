import { type Collection, type Db, ObjectId } from 'mongodb';
import { type ErrorCode, isOracleError, OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { RequestOrigin } from '../security/request-log.ts';

/** `begun`: written before the action; it stays so where the process ended before the action did, or could not write its end. */
export const AUDIT_STATES = ['begun', 'done', 'failed'] as const;

/** What the operator does. */
export interface Deed {
  /** A plain name such as `wagers.pause`. */
  action: string;
  /** What it was done with, as text; no secrets. */
  parameters: Record<string, string>;
  origin: RequestOrigin;
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

const LONGEST_RESULT = 500;
/** As many ids as the page on jobs may name at once. */
const LONGEST_PARAMETER = 5_000;

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
  async run<T>(deed: Deed, work: () => Promise<T>, wordsOf: (result: T) => string): Promise<T> {
    const id = await this.#begin(deed);
    try {
      const result = await work();
      await this.#end(id, { state: 'done', errorCode: null, result: wordsOf(result) });
      return result;
    } catch (error) {
      await this.#end(id, failureOf(error));
      throw error;
    }
  }

  /** The latest entries, newest first. */
  newest(limit: number): Promise<AuditEntry[]> {
    return this.#entries.find({}).sort({ at: -1, _id: -1 }).limit(limit).toArray();
  }

  async #begin({ action, parameters, origin }: Deed): Promise<ObjectId> {
    const { user, now } = this.#options;
    const entry: AuditEntry = {
      ...{ _id: new ObjectId(), at: now(), user, ...origin, action, parameters: bounded(parameters) },
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
    const set = { ...end, result: result?.slice(0, LONGEST_RESULT) ?? null, endedAt: now() };
    try {
      await this.#entries.updateOne({ _id, state: 'begun' }, { $set: set });
    } catch (error) {
      log.error({ err: error, entry: _id.toHexString(), ...end }, 'the end of an action of the operator could not be written');
    }
  }
}

function bounded(parameters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, text.slice(0, LONGEST_PARAMETER)]));
}

/** What is not one of our own errors may say anything: its message stays in the log. */
function failureOf(error: unknown): Pick<AuditEntry, 'state' | 'errorCode' | 'result'> {
  if (!isOracleError(error)) return { state: 'failed', errorCode: 'INTERNAL', result: null };
  return { state: 'failed', errorCode: error.code, result: error.message };
}
