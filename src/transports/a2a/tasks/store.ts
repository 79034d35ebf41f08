import { randomUUID } from 'node:crypto';
import { type ListTasksRequest, type ListTasksResponse, type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import type { Collection, Db, Filter } from 'mongodb';
import { toClientError } from '../../../platform/errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../../../platform/mongo.ts';
import { getOwner, getRateLimitKey } from '../agent-user.ts';
import { buildTaskStatus, errorParts } from '../messages/parts.ts';
import { findPayableCall } from '../payments/metadata.ts';
import { CAPACITY_KEY, TaskCapacity, type TaskCapacityDeps } from './capacity.ts';
import { packTask, type TaskDoc, unpackTask } from './doc.ts';
import { limitHistory } from './history.ts';
import { ABANDONED_FILTER, HEARTBEAT, IS_ABANDONED, RELEASED_AT, taskAbandoned } from './lease.ts';
import { applyPageToken, buildListFilter, readTaskPage } from './page.ts';
import { getExpiry, getExtendedExpiry } from './retention.ts';
import { ACTIVE_STATES, getState, TERMINAL_STATES } from './states.ts';

/** What a request began to work on. */
interface Run {
  taskId: string;
  run: string;
}

/** What changes with a task. */
type TaskFields = Omit<TaskDoc, '_id' | 'countedAs' | 'createdAt' | 'expiresAt' | 'run' | 'aliveAt'> & Partial<Pick<TaskDoc, 'expiresAt'>>;

type StoredTask = Pick<TaskDoc, '_id' | 'owner' | 'run' | 'aliveAt' | 'task'>;

const COLLECTION = 'a2a_tasks';
/** Named with every query by id: the embedded engine cannot choose among several indexes. */
const BY_ID = { hint: { _id: 1 } } as const;
const LIST_KEY = { owner: 1, statusAt: -1, _id: -1 } as const;

export const TASK_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: LIST_KEY }, { key: CAPACITY_KEY }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

const DEFAULT_PAGE_SIZE = 50;
/** Tasks of a list that are fetched together: a page may end after any of them. */
const READ_BATCH_SIZE = 10;

/**
 * Tasks in MongoDB, each for its owner only. A terminal state is final whoever writes, in whichever process; a task whose process
 * has died is told as failed.
 */
export class MongoTaskStore implements TaskStore {
  readonly #tasks: Collection<TaskDoc>;
  /** What each request runs: a process that was thought dead does not write over what another one has made of its task. */
  readonly #runs = new WeakMap<ServerCallContext, Run>();
  readonly #now: () => Date;
  readonly #capacity: TaskCapacity;

  /** @param onDropped told of tasks that were deleted before their time, to make room */
  constructor(db: Db, now: () => Date, onDropped: TaskCapacityDeps['onEvicted'] = async () => undefined) {
    this.#tasks = db.collection<TaskDoc>(COLLECTION);
    this.#now = now;
    this.#capacity = new TaskCapacity({ tasks: this.#tasks, onEvicted: onDropped });
  }

  /**
   * Stores a task that is worked on from now, if need be in the place of an older one; false when there is one of this id.
   * @throws OracleError RATE_LIMITED
   */
  async open(task: Task, context: ServerCallContext): Promise<boolean> {
    await this.#capacity.ensureRoom(getRateLimitKey(context));
    return this.#insert(task, context);
  }

  async #insert(task: Task, context: ServerCallContext): Promise<boolean> {
    const run = this.#registerRun(task.id, context);
    const owner = getOwner(context);
    const createdAt = this.#now();
    const opened = { expiresAt: getExpiry(owner, createdAt), countedAs: getRateLimitKey(context), run, createdAt };
    const fields = { ...opened, ...this.#toFields(task, owner) };
    try {
      // An upsert that matches nothing: only an update can ask the database for its time.
      const nowhere = { _id: task.id, state: { $exists: false } };
      await this.#tasks.updateOne(nowhere, { $set: fields, ...HEARTBEAT }, { ...BY_ID, upsert: true });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Takes up a task whose process has died while it worked on this message; false when it is alive, or another was faster. */
  takeOver(taskId: string, { messageId }: Message, context: ServerCallContext): Promise<boolean> {
    return this.#startRun({ _id: taskId, owner: getOwner(context), asked: messageId, ...ABANDONED_FILTER }, {}, context);
  }

  /** Takes up a task that waits for a message; false when it does not, or another message was faster. */
  async resume(taskId: string, message: Message, context: ServerCallContext): Promise<boolean> {
    const owner = getOwner(context);
    const found = await this.#tasks.findOne({ _id: taskId, owner, state: TaskState.TASK_STATE_INPUT_REQUIRED }, BY_ID);
    if (found === null) return false;
    const task = unpackTask(found);
    if (hasMessage(task, message)) return false;
    task.history = [...task.history, message];
    task.status = buildTaskStatus({ taskId, contextId: task.contextId, state: TaskState.TASK_STATE_SUBMITTED, at: this.#now() });
    // The text of the task stands for all that another message could have changed.
    return this.#startRun({ _id: taskId, state: found.state, task: found.task }, this.#toFields(task, owner), context);
  }

  /** Lets the task that the request runs be taken up again at once. */
  async release(context: ServerCallContext): Promise<void> {
    const begun = this.#runs.get(context);
    if (begun === undefined) return;
    const filter = { _id: begun.taskId, run: begun.run, state: { $in: [...ACTIVE_STATES] } };
    await this.#tasks.updateOne(filter, { $set: { aliveAt: RELEASED_AT } }, BY_ID);
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    const owner = getOwner(context);
    const begun = this.#runs.get(context);
    const filter = { _id: task.id, owner, state: { $nin: [...TERMINAL_STATES] }, ...(begun && { run: begun.run }) };
    const { matchedCount } = await this.#tasks.updateOne(filter, { $set: this.#toFields(task, owner), ...HEARTBEAT }, BY_ID);
    // What is left is a task that is final, run by another, or somebody else's: it stays as it is.
    if (matchedCount === 0) await this.#insert(task, context);
  }

  /** As it is, also when its process has died. */
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

  /** What changes with the task, without reading it: empty for a task that has to be read; undefined when there is none. */
  async getChangeToken(taskId: string, context: ServerCallContext): Promise<string | undefined> {
    const found = await this.#tasks.findOne<{ change?: string; isAbandoned: boolean }>(
      { _id: taskId, owner: getOwner(context) },
      { ...BY_ID, projection: { change: 1, isAbandoned: IS_ABANDONED } },
    );
    if (found === null) return undefined;
    return found.isAbandoned ? '' : (found.change ?? '');
  }

  /** A page of at most about 1 MB. */
  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const owner = getOwner(context);
    const all = buildListFilter(params, owner);
    const rest = applyPageToken(all, params.pageToken);
    await this.#failAbandoned(owner);
    const pageSize = params.pageSize ?? DEFAULT_PAGE_SIZE;
    const hint = { hint: LIST_KEY };
    const found = this.#tasks
      .find(rest, hint)
      .sort({ statusAt: -1, _id: -1 })
      .limit(pageSize + 1)
      .batchSize(READ_BATCH_SIZE);
    const [totalSize, page] = await Promise.all([this.#tasks.countDocuments(all, hint), readTaskPage(found, { ...params, pageSize })]);
    return { ...page, pageSize, totalSize };
  }

  /** Deletes what has expired, and tells how many tasks it was. */
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

  /** False when the filter matches no task any more. */
  async #startRun(filter: Filter<TaskDoc> & { _id: string }, fields: Partial<TaskDoc>, context: ServerCallContext): Promise<boolean> {
    const run = this.#registerRun(filter._id, context);
    const { modifiedCount } = await this.#tasks.updateOne(filter, { $set: { ...fields, run }, ...HEARTBEAT }, BY_ID);
    return modifiedCount === 1;
  }

  /** Noted before it is written: one whose answer is lost can be given up as well. */
  #registerRun(taskId: string, context: ServerCallContext): string {
    const run = randomUUID();
    this.#runs.set(context, { taskId, run });
    return run;
  }

  async #failAbandoned(owner: string): Promise<void> {
    for await (const found of this.#tasks.find({ owner, ...ABANDONED_FILTER }, { hint: LIST_KEY })) await this.#fail(found);
  }

  /** False when the task has changed meanwhile. */
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

/** Whether a message of the caller is part of a task. */
export function hasMessage({ history }: Pick<Task, 'history'>, { messageId }: Message): boolean {
  return history.some((message) => message.role === Role.ROLE_USER && message.messageId === messageId);
}

function getLastMessageId({ history }: Task): string | undefined {
  return history.findLast(({ role }) => role === Role.ROLE_USER)?.messageId;
}

/** The skill that a task was opened for. */
export function getTaskSkill({ metadata }: Pick<Task, 'metadata'>): string | undefined {
  return typeof metadata?.skill === 'string' ? metadata.skill : undefined;
}
