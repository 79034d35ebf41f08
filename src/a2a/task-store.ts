import { randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type ListTasksRequest, type ListTasksResponse, Message, Role, Task, TaskState, taskStateToJSON } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import type { Collection, Db, Filter } from 'mongodb';
import { z } from 'zod';
import { TASK_WINDOW_SECONDS } from '../auth/rate-limits.ts';
import { OracleError, toClientError } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import { type CollectionIndexes, isFirstWrite } from '../platform/mongo.ts';
import { repeatIfUncertain } from '../platform/retry.ts';
import { parseJsonOrNull } from '../platform/validation.ts';
import { buildTaskStatus, errorParts, findPayableCall, getOwner, getRateLimitKey, getReceipts } from './protocol.ts';

const TERMINAL_STATES: readonly TaskState[] = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];

const ACTIVE_STATES: readonly TaskState[] = [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING];

export function getState({ status }: Pick<Task, 'status'>): TaskState {
  return status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
}

export function isTerminal(task: Pick<Task, 'status'>): boolean {
  return TERMINAL_STATES.includes(getState(task));
}

export function isActive(task: Pick<Task, 'status'>): boolean {
  return ACTIVE_STATES.includes(getState(task));
}

export function getStateName(task: Pick<Task, 'status'>): string {
  return taskStateToJSON(getState(task));
}

/** Stored tasks per quota key. An address has one key for programs and one for pages. */
export const MAX_TASKS = { wallet: 2_000, address: 200 } as const;

const CAPACITY_KEY = { countedAs: 1, createdAt: 1 } as const;

/** Eviction order; running tasks are never evicted. */
const EVICTION_ORDER: readonly (readonly TaskState[])[] = [
  TERMINAL_STATES,
  [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED, TaskState.TASK_STATE_UNSPECIFIED],
];
export interface TaskDoc {
  _id: string;
  owner: string;
  /** Quota key, which several owners may share. */
  countedAs: string;
  contextId: string;
  state: TaskState;
  statusAt: Date;
  /** Null until it is known. */
  skill: string | null;
  /** `messageId` of the owner's last message. */
  asked: string | null;
  /** Changes with each lease holder. */
  run: string;
  /** Heartbeat of the lease holder, by the clock of the database. */
  aliveAt: Date;
  createdAt: Date;
  expiresAt: Date;
  /** Whether the answer is paid for, or awaits payment. */
  isSold: boolean;
  /** Changes with each write. */
  change: string;
  /** Deflated JSON in base64: as a sub-document its keys might be rejected, and the SDK repeats the newest message in the history. */
  task: string;
}

export function unpackTaskJson({ task }: Pick<TaskDoc, 'task'>): string {
  return inflateRawSync(Buffer.from(task, 'base64')).toString();
}

function unpackTask(doc: Pick<TaskDoc, 'task'>): Task {
  return Task.fromJSON(JSON.parse(unpackTaskJson(doc)));
}

/** Limits of the stored history; the newest message is always kept. */
export const HISTORY_LIMITS = { messages: 40, bytes: 64 * 1_024 } as const;

type TaskFields = Omit<TaskDoc, '_id' | 'countedAs' | 'createdAt' | 'expiresAt' | 'run' | 'aliveAt'> & Partial<Pick<TaskDoc, 'expiresAt'>>;

type StoredTask = Pick<TaskDoc, '_id' | 'owner' | 'run' | 'aliveAt' | 'task'>;

const COLLECTION = 'a2a_tasks';
/** Hint for queries by id: the embedded engine does not choose among several indexes. */
const BY_ID = { hint: { _id: 1 } } as const;
const LIST_KEY = { owner: 1, statusAt: -1, _id: -1 } as const;

export const TASK_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: LIST_KEY }, { key: CAPACITY_KEY }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

const DEFAULT_PAGE_SIZE = 50;
/** Batch size of lists: the page limits may be reached after any task. */
const READ_BATCH_SIZE = 10;

/** Tasks in MongoDB, scoped by owner. Terminal states are final for all processes; a task whose lease has expired is failed on read. */
export class MongoTaskStore implements TaskStore {
  readonly #tasks: Collection<TaskDoc>;
  /** Leases by request: a process that lost its lease must not overwrite the task of the next holder. */
  readonly #runs = new WeakMap<ServerCallContext, { taskId: string; run: string }>();
  readonly #now: () => Date;
  readonly #onEvicted: (task: Pick<TaskDoc, '_id' | 'owner'>) => Promise<void>;

  /** @param onEvicted called for tasks that were evicted */
  constructor(db: Db, now: () => Date, onEvicted: (task: Pick<TaskDoc, '_id' | 'owner'>) => Promise<void> = async () => undefined) {
    this.#tasks = db.collection<TaskDoc>(COLLECTION);
    this.#now = now;
    this.#onEvicted = onEvicted;
  }

  /** Inserts a task with a lease, evicting an older one at the limit; false if the id exists. @throws OracleError RATE_LIMITED */
  async open(task: Task, context: ServerCallContext): Promise<boolean> {
    const countedAs = getRateLimitKey(context);
    const max = isWalletOwner(countedAs) ? MAX_TASKS.wallet : MAX_TASKS.address;
    let excess = (await this.#tasks.countDocuments({ countedAs }, { hint: CAPACITY_KEY })) - max + 1;
    for (const states of EVICTION_ORDER) if (excess > 0) excess -= await this.#evict(countedAs, states, excess);
    if (excess <= 0) return this.#insert(task, context);
    const suggestedAction = 'Wait until some of them end.';
    throw new OracleError('RATE_LIMITED', `${max} of your tasks are running`, { suggestedAction, retryAfterSeconds: 60 });
  }

  async #evict(countedAs: string, states: readonly TaskState[], max: number): Promise<number> {
    const oldest = await this.#tasks
      .find({ countedAs, state: { $in: [...states] } }, { hint: CAPACITY_KEY, projection: { owner: 1 } })
      .sort({ createdAt: 1 })
      .limit(max)
      .toArray();
    for (const { _id, owner } of oldest) {
      await this.#tasks.deleteOne({ _id, state: { $in: [...states] } }, BY_ID);
      await this.#onEvicted({ _id, owner });
    }
    return oldest.length;
  }

  async #insert(task: Task, context: ServerCallContext): Promise<boolean> {
    const run = this.#registerRun(task.id, context);
    const owner = getOwner(context);
    const createdAt = this.#now();
    const expiresAt = getExpiry(owner, createdAt);
    const fields = { expiresAt, countedAs: getRateLimitKey(context), run, createdAt, ...this.#toFields(task, owner) };
    // An upsert whose filter never matches, because only updates can use the clock of the database.
    const noMatch = { _id: task.id, state: { $exists: false } };
    return isFirstWrite(this.#tasks.updateOne(noMatch, { $set: fields, ...HEARTBEAT }, { ...BY_ID, upsert: true }));
  }

  /** Acquires the expired lease of a task that ran this message; false if the holder is alive, or another process won. */
  takeOver(taskId: string, { messageId }: Message, context: ServerCallContext): Promise<boolean> {
    return this.#startRun({ _id: taskId, owner: getOwner(context), asked: messageId, ...ABANDONED_FILTER }, {}, context);
  }

  /** Acquires a task in INPUT_REQUIRED for a message; false in other states, or if another message won. */
  async resume(taskId: string, message: Message, context: ServerCallContext): Promise<boolean> {
    const owner = getOwner(context);
    const found = await this.#tasks.findOne({ _id: taskId, owner, state: TaskState.TASK_STATE_INPUT_REQUIRED }, BY_ID);
    if (found === null) return false;
    const task = unpackTask(found);
    if (hasMessage(task, message)) return false;
    task.history = [...task.history, message];
    task.status = buildTaskStatus({ taskId, contextId: task.contextId, state: TaskState.TASK_STATE_SUBMITTED, at: this.#now() });
    // Compare-and-set on the serialized task, which covers all its fields.
    return this.#startRun({ _id: taskId, state: found.state, task: found.task }, this.#toFields(task, owner), context);
  }

  /** Releases the lease of the request, so that a retry can acquire it at once. */
  async release(context: ServerCallContext): Promise<void> {
    const lease = this.#runs.get(context);
    if (lease === undefined) return;
    const filter = { _id: lease.taskId, run: lease.run, state: { $in: [...ACTIVE_STATES] } };
    await repeatIfUncertain(() => this.#tasks.updateOne(filter, { $set: { aliveAt: RELEASED_AT } }, BY_ID));
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    const owner = getOwner(context);
    const lease = this.#runs.get(context);
    const filter = { _id: task.id, owner, state: { $nin: [...TERMINAL_STATES] }, ...(lease && { run: lease.run }) };
    const { matchedCount } = await this.#tasks.updateOne(filter, { $set: this.#toFields(task, owner), ...HEARTBEAT }, BY_ID);
    // No match: the task is terminal, leased by another request, or of another owner, and stays as it is.
    if (matchedCount === 0) await this.#insert(task, context);
  }

  /** Does not fail an abandoned task. */
  async peek(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const found = await this.#tasks.findOne({ _id: taskId, owner: getOwner(context) }, BY_ID);
    return found === null ? undefined : unpackTask(found);
  }

  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const found = await this.#tasks.findOne<StoredTask & { isAbandoned: boolean }>(
      { _id: taskId, owner: getOwner(context) },
      { ...BY_ID, projection: { owner: 1, run: 1, aliveAt: 1, task: 1, isAbandoned: IS_ABANDONED } },
    );
    if (found === null) return undefined;
    if (found.isAbandoned && (await this.#fail(found))) return this.load(taskId, context);
    return unpackTask(found);
  }

  /** Change token, read without the task: empty if the task must be loaded, undefined if it does not exist. */
  async getChangeToken(taskId: string, context: ServerCallContext): Promise<string | undefined> {
    const found = await this.#tasks.findOne<{ change?: string; isAbandoned: boolean }>(
      { _id: taskId, owner: getOwner(context) },
      { ...BY_ID, projection: { change: 1, isAbandoned: IS_ABANDONED } },
    );
    if (found === null) return undefined;
    return found.isAbandoned ? '' : (found.change ?? '');
  }

  /** At most about 1 MB. */
  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const owner = getOwner(context);
    const all = buildListFilter(params, owner);
    const rest = applyPageToken(all, params.pageToken);
    const pageSize = params.pageSize ?? DEFAULT_PAGE_SIZE;
    // Others share the address of an anonymous caller: who knows the id of a task reads it.
    if (!isWalletOwner(owner)) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
    for await (const abandoned of this.#tasks.find({ owner, ...ABANDONED_FILTER }, { hint: LIST_KEY })) await this.#fail(abandoned);
    const hint = { hint: LIST_KEY };
    const found = this.#tasks
      .find(rest, hint)
      .sort({ statusAt: -1, _id: -1 })
      .limit(pageSize + 1)
      .batchSize(READ_BATCH_SIZE);
    const [totalSize, page] = await Promise.all([this.#tasks.countDocuments(all, hint), readTaskPage(found, { ...params, pageSize })]);
    return { ...page, pageSize, totalSize };
  }

  async purge(now: Date): Promise<number> {
    return (await this.#tasks.deleteMany({ expiresAt: { $lte: now } })).deletedCount;
  }

  #toFields(task: Task, owner: string): TaskFields {
    const now = this.#now();
    const expiresAt = getExtendedExpiry(task, owner, now);
    const kept = { ...task, history: limitHistory(task.history) };
    return {
      owner,
      contextId: task.contextId,
      state: getState(task),
      statusAt: new Date(task.status?.timestamp ?? now),
      skill: getTaskSkill(task) ?? null,
      asked: task.history.findLast(({ role }) => role === Role.ROLE_USER)?.messageId ?? null,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      isSold: findPayableCall(task) !== undefined,
      change: randomUUID(),
      task: deflateRawSync(JSON.stringify(Task.toJSON(kept))).toString('base64'),
    };
  }

  /** Compare-and-set; false if the filter no longer matches. */
  async #startRun(filter: Filter<TaskDoc> & { _id: string }, fields: Partial<TaskDoc>, context: ServerCallContext): Promise<boolean> {
    const run = this.#registerRun(filter._id, context);
    const { modifiedCount } = await this.#tasks.updateOne(filter, { $set: { ...fields, run }, ...HEARTBEAT }, BY_ID);
    return modifiedCount === 1;
  }

  /** Registered before the write, so that a write whose response is lost can be released too. */
  #registerRun(taskId: string, context: ServerCallContext): string {
    const run = randomUUID();
    this.#runs.set(context, { taskId, run });
    return run;
  }

  /** False if the task has changed meanwhile. */
  async #fail(found: StoredTask): Promise<boolean> {
    const task = unpackTask(found);
    const suggestedAction =
      'Send the message again with a new messageId, and with the same payment if there was one: it is not charged twice.';
    const error = new OracleError('SHUTTING_DOWN', 'The service stopped while this task was running', { suggestedAction });
    const parts = errorParts(toClientError(error));
    const at = this.#now();
    task.status = buildTaskStatus({ taskId: task.id, contextId: task.contextId, state: TaskState.TASK_STATE_FAILED, at, parts });
    const filter = { _id: found._id, state: { $in: [...ACTIVE_STATES] }, run: found.run, aliveAt: found.aliveAt };
    const { matchedCount } = await this.#tasks.updateOne(filter, { $set: this.#toFields(task, found.owner) }, BY_ID);
    return matchedCount === 1;
  }
}

/** Wallet tasks live longer than anonymous ones, whose address another client may hold tomorrow. */
function isWalletOwner(owner: string): boolean {
  return owner.startsWith('wallet:');
}

export function hasMessage({ history }: Pick<Task, 'history'>, { messageId }: Message): boolean {
  return history.some((message) => message.role === Role.ROLE_USER && message.messageId === messageId);
}

export function getTaskSkill({ metadata }: Pick<Task, 'metadata'>): string | undefined {
  return typeof metadata?.skill === 'string' ? metadata.skill : undefined;
}

/** Removes repeats and old messages. */
export function limitHistory(history: readonly Message[]): Message[] {
  const kept: Message[] = [];
  let bytes = 0;
  // The SDK appends the opening message a second time.
  const unique = [...new Map(history.map((message) => [`${message.role} ${message.messageId}`, message])).values()];
  for (const message of unique.slice(-HISTORY_LIMITS.messages).reverse()) {
    bytes += Buffer.byteLength(JSON.stringify(Message.toJSON(message)));
    if (kept.length > 0 && bytes > HISTORY_LIMITS.bytes) break;
    kept.unshift(message);
  }
  return kept;
}

/** Above the duration of any skill. Measured by the clock of the database, so that clock skew of processes does not matter. */
export const TASK_LEASE_MS = 120_000;

/** Update that renews the lease. */
const HEARTBEAT = { $currentDate: { aliveAt: true } } as const;
/** Epoch: the lease counts as expired. */
const RELEASED_AT = new Date(0);

const IS_EXPIRED = { $lte: ['$aliveAt', { $subtract: ['$$NOW', TASK_LEASE_MS] }] };
/** Aggregation expression. */
const IS_ABANDONED = { $and: [{ $in: ['$state', [...ACTIVE_STATES]] }, IS_EXPIRED] };
/** The same as a query filter. */
const ABANDONED_FILTER = { state: { $in: [...ACTIVE_STATES] }, $expr: IS_EXPIRED };

const MAX_TOKEN_CHARACTERS = 300;

const PAGE_TOKEN = z.tuple([z.int().min(0).max(8.64e15), z.string().min(1).max(128)]);

/** Maximum JSON bytes that a page returns and reads; it holds at least one task. */
export const PAGE_LIMITS = { responseBytes: 1_000_000, readBytes: 8_000_000 } as const;

type PageOptions = Pick<ListTasksRequest, 'includeArtifacts' | 'historyLength'> & { pageSize: number };

/** Fills a page up to the limits. @param found sorted, at least one more than `pageSize` if there are more */
async function readTaskPage(found: AsyncIterable<TaskDoc>, options: PageOptions): Promise<{ tasks: Task[]; nextPageToken: string }> {
  const tasks: Task[] = [];
  let [responseBytes, readBytes] = [0, 0];
  let last: TaskDoc | undefined;
  for await (const doc of found) {
    const json = unpackTaskJson(doc);
    const task = trimTask(Task.fromJSON(JSON.parse(json)), options);
    responseBytes += Buffer.byteLength(JSON.stringify(Task.toJSON(task)));
    readBytes += json.length;
    const isFull = tasks.length === options.pageSize || responseBytes > PAGE_LIMITS.responseBytes || readBytes > PAGE_LIMITS.readBytes;
    if (isFull && last !== undefined) {
      return { tasks, nextPageToken: Buffer.from(JSON.stringify([last.statusAt.getTime(), last._id])).toString('base64url') };
    }
    tasks.push(task);
    last = doc;
  }
  return { tasks, nextPageToken: '' };
}

function trimTask(task: Task, { includeArtifacts, historyLength }: PageOptions): Task {
  const history = historyLength === undefined ? task.history : historyLength === 0 ? [] : task.history.slice(-historyLength);
  return { ...task, history, artifacts: includeArtifacts ? task.artifacts : [] };
}

function buildListFilter({ contextId, status, statusTimestampAfter }: ListTasksRequest, owner: string): Filter<TaskDoc> {
  return {
    owner,
    ...(contextId === '' ? {} : { contextId }),
    ...(status === TaskState.TASK_STATE_UNSPECIFIED ? {} : { state: status }),
    ...(statusTimestampAfter === undefined || statusTimestampAfter === '' ? {} : { statusAt: { $gt: new Date(statusTimestampAfter) } }),
  };
}

/** Restricts a filter to the tasks after a page token. @throws OracleError INPUT_INVALID */
function applyPageToken(filter: Filter<TaskDoc>, pageToken: string): Filter<TaskDoc> {
  if (pageToken === '') return filter;
  const text = pageToken.length > MAX_TOKEN_CHARACTERS ? '' : Buffer.from(pageToken, 'base64url').toString('utf8');
  const parsed = PAGE_TOKEN.safeParse(parseJsonOrNull(text));
  if (!parsed.success) {
    const suggestedAction = 'Send nextPageToken of the page before as it is, or leave it out for the first page.';
    throw new OracleError('INPUT_INVALID', 'This page token was not issued here', { field: 'pageToken', suggestedAction });
  }
  const [statusMs, id] = parsed.data;
  const statusAt = new Date(statusMs);
  return { $and: [filter, { $or: [{ statusAt: { $lt: statusAt } }, { statusAt, _id: { $lt: id } }] }] };
}

/** Wallet tasks after their last change, paid ones after payment, anonymous ones after opening: the window in which they are metered. */
const RETENTION_MS = { wallet: 7 * DAY_MS, paid: DAY_MS, anonymous: TASK_WINDOW_SECONDS * 1_000 } as const;

export function getExpiry(owner: string, now: Date): Date {
  return new Date(now.getTime() + (isWalletOwner(owner) ? RETENTION_MS.wallet : RETENTION_MS.anonymous));
}

/** Undefined if the task keeps its expiry. */
function getExtendedExpiry(task: Pick<Task, 'metadata'>, owner: string, now: Date): Date | undefined {
  if (isWalletOwner(owner)) return getExpiry(owner, now);
  const isPaid = getReceipts(task).some((receipt) => 'success' in receipt && receipt.success === true);
  return isPaid ? new Date(now.getTime() + RETENTION_MS.paid) : undefined;
}

/** @param fields `skill` is set if it is known already */
export function buildTask(fields: { taskId: string; contextId: string; message: Message; at: Date; skill?: string }): Task {
  const { taskId, contextId, message, at, skill } = fields;
  return {
    id: taskId,
    contextId,
    status: buildTaskStatus({ taskId, contextId, state: TaskState.TASK_STATE_SUBMITTED, at }),
    artifacts: [],
    history: [{ ...message, taskId, contextId }],
    metadata: skill === undefined ? undefined : { skill },
  };
}
