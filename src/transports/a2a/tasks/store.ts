import { randomUUID } from 'node:crypto';
import { type ListTasksRequest, type ListTasksResponse, Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import type { Collection, Db, Filter } from 'mongodb';
import { toClientError } from '../../../platform/errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../../../platform/mongo.ts';
import { repeatIfUncertain } from '../../../platform/uncertain-write.ts';
import { getOwner, getRateLimitKey, isWalletOwner } from '../agent-user.ts';
import { buildTaskStatus, errorParts } from '../messages/parts.ts';
import { findPayableCall } from '../payments/metadata.ts';
import { CAPACITY_KEY, TaskCapacity, type TaskCapacityDeps } from './capacity.ts';
import { packTask, type TaskDoc, unpackTask } from './doc.ts';
import { ABANDONED_FILTER, HEARTBEAT, IS_ABANDONED, RELEASED_AT, taskAbandoned } from './lease.ts';
import { applyPageToken, buildListFilter, readTaskPage } from './page.ts';
import { getExpiry, getExtendedExpiry } from './retention.ts';
import { ACTIVE_STATES, getState, TERMINAL_STATES } from './states.ts';

/** Limits of the stored history; the newest message is always kept. */
export const HISTORY_LIMITS = { messages: 40, bytes: 64 * 1_024 } as const;

interface Run {
  taskId: string;
  run: string;
}

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
  readonly #runs = new WeakMap<ServerCallContext, Run>();
  readonly #now: () => Date;
  readonly #capacity: TaskCapacity;

  /** @param onEvicted called for tasks that were evicted */
  constructor(db: Db, now: () => Date, onEvicted: TaskCapacityDeps['onEvicted'] = async () => undefined) {
    this.#tasks = db.collection<TaskDoc>(COLLECTION);
    this.#now = now;
    this.#capacity = new TaskCapacity({ tasks: this.#tasks, onEvicted });
  }

  /** Inserts a task with a lease, evicting an older one at the limit; false if the id exists. @throws OracleError RATE_LIMITED */
  async open(task: Task, context: ServerCallContext): Promise<boolean> {
    await this.#capacity.ensureRoom(getRateLimitKey(context));
    return this.#insert(task, context);
  }

  async #insert(task: Task, context: ServerCallContext): Promise<boolean> {
    const run = this.#registerRun(task.id, context);
    const owner = getOwner(context);
    const createdAt = this.#now();
    const expiresAt = getExpiry(owner, createdAt);
    const fields = { expiresAt, countedAs: getRateLimitKey(context), run, createdAt, ...this.#toFields(task, owner) };
    try {
      // An upsert whose filter never matches, because only updates can use the clock of the database.
      const noMatch = { _id: task.id, state: { $exists: false } };
      await this.#tasks.updateOne(noMatch, { $set: fields, ...HEARTBEAT }, { ...BY_ID, upsert: true });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
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
    await this.#failAbandoned(owner);
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
    const state = getState(task);
    const kept = { ...task, history: limitHistory(task.history) };
    return {
      owner,
      contextId: task.contextId,
      state,
      statusAt: new Date(task.status?.timestamp ?? now),
      skill: getTaskSkill(task) ?? null,
      asked: getLastMessageId(task) ?? null,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      isSold: findPayableCall(task) !== undefined,
      change: randomUUID(),
      task: packTask(kept),
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

  async #failAbandoned(owner: string): Promise<void> {
    for await (const found of this.#tasks.find({ owner, ...ABANDONED_FILTER }, { hint: LIST_KEY })) await this.#fail(found);
  }

  /** False if the task has changed meanwhile. */
  async #fail(found: StoredTask): Promise<boolean> {
    const task = unpackTask(found);
    const parts = errorParts(toClientError(taskAbandoned()));
    const at = this.#now();
    task.status = buildTaskStatus({ taskId: task.id, contextId: task.contextId, state: TaskState.TASK_STATE_FAILED, at, parts });
    const filter = { _id: found._id, state: { $in: [...ACTIVE_STATES] }, run: found.run, aliveAt: found.aliveAt };
    const { matchedCount } = await this.#tasks.updateOne(filter, { $set: this.#toFields(task, found.owner) }, BY_ID);
    return matchedCount === 1;
  }
}

export function hasMessage({ history }: Pick<Task, 'history'>, { messageId }: Message): boolean {
  return history.some((message) => message.role === Role.ROLE_USER && message.messageId === messageId);
}

function getLastMessageId({ history }: Task): string | undefined {
  return history.findLast(({ role }) => role === Role.ROLE_USER)?.messageId;
}

export function getTaskSkill({ metadata }: Pick<Task, 'metadata'>): string | undefined {
  return typeof metadata?.skill === 'string' ? metadata.skill : undefined;
}

/** Removes repeats and old messages. */
export function limitHistory(history: readonly Message[]): Message[] {
  const kept: Message[] = [];
  let bytes = 0;
  for (const message of removeRepeats(history).slice(-HISTORY_LIMITS.messages).reverse()) {
    bytes += Buffer.byteLength(JSON.stringify(Message.toJSON(message)));
    if (kept.length > 0 && bytes > HISTORY_LIMITS.bytes) break;
    kept.unshift(message);
  }
  return kept;
}

/** The SDK appends the opening message a second time. */
function removeRepeats(history: readonly Message[]): Message[] {
  return [...new Map(history.map((message) => [`${message.role} ${message.messageId}`, message])).values()];
}
