import { type ListTasksRequest, type ListTasksResponse, type Message, Role, Task, TaskState } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import type { Collection, Db, Filter } from 'mongodb';
import { OracleError, toldError } from '../errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../mongo.ts';
import { isWallet, ownerOf } from './owner.ts';
import { pageTokenOf, readPageToken } from './page-token.ts';
import { errorParts, statusOf } from './parts.ts';
import { ACTIVE, stateOf, TERMINAL } from './task-states.ts';

export interface TaskDoc {
  _id: string;
  owner: string;
  contextId: string;
  state: TaskState;
  statusAt: Date;
  /** The skill that was asked for; null until it is known. */
  skill: string | null;
  /** Until when the process that works on it is believed to be alive; null while nobody works on it. */
  leaseUntil: Date | null;
  createdAt: Date;
  expiresAt: Date;
  /** `Task` as JSON text: what callers send may hold names that the database does not take. */
  task: string;
}

const COLLECTION = 'a2a_tasks';
/** Named with every query by id: the embedded engine cannot choose among several indexes. */
const BY_ID = { hint: { _id: 1 } } as const;
const LIST_KEY = { owner: 1, statusAt: -1, _id: -1 } as const;

export const TASK_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: LIST_KEY }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** No answer takes longer: after it the process that worked on the task is taken for dead. */
export const LEASE_MS = 120_000;

const DAY_MS = 86_400_000;

/** How long a task is kept after its last change. */
export function keptUntil(owner: string, now: Date): Date {
  return new Date(now.getTime() + (isWallet(owner) ? 7 : 1) * DAY_MS);
}

/** Messages that a task keeps: the newest. */
const LONGEST_HISTORY = 40;
const DEFAULT_PAGE_SIZE = 50;

/**
 * Tasks in MongoDB, each for its owner only. A terminal state is final whoever writes, in whichever process; a task whose process
 * has died is told as failed.
 */
export class MongoTaskStore implements TaskStore {
  readonly #tasks: Collection<TaskDoc>;
  readonly #now: () => Date;

  constructor(db: Db, now: () => Date) {
    this.#tasks = db.collection<TaskDoc>(COLLECTION);
    this.#now = now;
  }

  /** Stores a task that is worked on from now; false when there is one of this id. */
  async open(task: Task, context: ServerCallContext): Promise<boolean> {
    const now = this.#now();
    try {
      await this.#tasks.insertOne({ _id: task.id, ...this.#fieldsOf(task, ownerOf(context)), createdAt: now });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Takes up a task whose process has died while it worked on this message; false when it is alive, or another was faster. */
  async takeOver(taskId: string, { messageId }: Message, context: ServerCallContext): Promise<boolean> {
    const found = await this.#tasks.findOne({ _id: taskId, owner: ownerOf(context) }, BY_ID);
    if (found === null || !this.#isDead(found) || lastAsked(taskOf(found)) !== messageId) return false;
    const filter = { _id: taskId, state: found.state, leaseUntil: found.leaseUntil };
    const { modifiedCount } = await this.#tasks.updateOne(filter, { $set: { leaseUntil: leaseFrom(this.#now()) } }, BY_ID);
    return modifiedCount === 1;
  }

  /** Takes up a task that waits for a message; false when it does not, or another message was faster. */
  async resume(taskId: string, message: Message, context: ServerCallContext): Promise<boolean> {
    const owner = ownerOf(context);
    const found = await this.#tasks.findOne({ _id: taskId, owner, state: TaskState.TASK_STATE_INPUT_REQUIRED }, BY_ID);
    if (found === null) return false;
    const task = taskOf(found);
    if (hasMessage(task, message)) return false;
    task.history = [...task.history, message];
    task.status = statusOf({ taskId, contextId: task.contextId, state: TaskState.TASK_STATE_SUBMITTED, at: this.#now() });
    // The text of the task stands for all that another message could have changed.
    const { modifiedCount } = await this.#tasks.updateOne(
      { _id: taskId, state: found.state, task: found.task },
      { $set: this.#fieldsOf(task, owner) },
      BY_ID,
    );
    return modifiedCount === 1;
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    const owner = ownerOf(context);
    const filter: Filter<TaskDoc> = { _id: task.id, owner, state: { $nin: [...TERMINAL] } };
    const { matchedCount } = await this.#tasks.updateOne(filter, { $set: this.#fieldsOf(task, owner) }, BY_ID);
    // What is left is a task that is final or somebody else's: `open` leaves it as it is.
    if (matchedCount === 0) await this.open(task, context);
  }

  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const found = await this.#tasks.findOne({ _id: taskId, owner: ownerOf(context) }, BY_ID);
    if (found === null) return undefined;
    if (this.#isDead(found) && (await this.#fail(found))) return this.load(taskId, context);
    return taskOf(found);
  }

  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const owner = ownerOf(context);
    const all = filterOf(params, owner);
    const rest = afterPage(all, params.pageToken);
    await this.#failAbandoned(owner);
    const pageSize = params.pageSize ?? DEFAULT_PAGE_SIZE;
    const hint = { hint: LIST_KEY };
    const [totalSize, found] = await Promise.all([
      this.#tasks.countDocuments(all, hint),
      this.#tasks
        .find(rest, hint)
        .sort({ statusAt: -1, _id: -1 })
        .limit(pageSize + 1)
        .toArray(),
    ]);
    const page = found.slice(0, pageSize);
    const last = found.length > pageSize ? page.at(-1) : undefined;
    const tasks = page.map(taskOf).map((task) => (params.includeArtifacts ? task : { ...task, artifacts: [] }));
    const nextPageToken = last === undefined ? '' : pageTokenOf({ statusAt: last.statusAt, id: last._id });
    return { tasks, nextPageToken, pageSize, totalSize };
  }

  /** Deletes what has expired, and tells how many tasks it was. */
  async purge(now: Date): Promise<number> {
    return (await this.#tasks.deleteMany({ expiresAt: { $lte: now } })).deletedCount;
  }

  #fieldsOf(task: Task, owner: string): Omit<TaskDoc, '_id' | 'createdAt'> {
    const now = this.#now();
    const state = stateOf(task);
    const kept = { ...task, history: withoutRepeats(task.history).slice(-LONGEST_HISTORY) };
    return {
      owner,
      contextId: task.contextId,
      state,
      statusAt: new Date(task.status?.timestamp ?? now),
      skill: skillOf(task) ?? null,
      leaseUntil: ACTIVE.includes(state) ? leaseFrom(now) : null,
      expiresAt: keptUntil(owner, now),
      task: JSON.stringify(Task.toJSON(kept)),
    };
  }

  #isDead({ state, leaseUntil }: TaskDoc): boolean {
    return ACTIVE.includes(state) && leaseUntil !== null && leaseUntil <= this.#now();
  }

  async #failAbandoned(owner: string): Promise<void> {
    const filter = { owner, state: { $in: [...ACTIVE] }, leaseUntil: { $lte: this.#now() } };
    for await (const found of this.#tasks.find(filter, { hint: LIST_KEY })) await this.#fail(found);
  }

  /** False when the task has changed meanwhile. */
  async #fail(found: TaskDoc): Promise<boolean> {
    const task = taskOf(found);
    const parts = errorParts(toldError(ABANDONED()));
    const at = this.#now();
    task.status = statusOf({ taskId: task.id, contextId: task.contextId, state: TaskState.TASK_STATE_FAILED, at, parts });
    const { matchedCount } = await this.#tasks.updateOne(
      { _id: found._id, state: found.state, leaseUntil: found.leaseUntil },
      { $set: this.#fieldsOf(task, found.owner) },
      BY_ID,
    );
    return matchedCount === 1;
  }
}

/** Whether a message of the caller is part of a task. */
export function hasMessage({ history }: Pick<Task, 'history'>, { messageId }: Message): boolean {
  return history.some((message) => message.role === Role.ROLE_USER && message.messageId === messageId);
}

function lastAsked({ history }: Task): string | undefined {
  return history.findLast(({ role }) => role === Role.ROLE_USER)?.messageId;
}

/** The skill that a task was opened for. */
export function skillOf({ metadata }: Pick<Task, 'metadata'>): string | undefined {
  return typeof metadata?.skill === 'string' ? metadata.skill : undefined;
}

const ABANDONED = () =>
  new OracleError('SHUTTING_DOWN', 'The service stopped while it worked on this task', {
    suggestedAction: 'Send the message again under a new messageId.',
  });

function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS);
}

function taskOf({ task }: TaskDoc): Task {
  return Task.fromJSON(JSON.parse(task));
}

/** The protocol's library notes a message again that the task was opened with. */
function withoutRepeats(history: readonly Message[]): Message[] {
  return [...new Map(history.map((message) => [`${message.role} ${message.messageId}`, message])).values()];
}

function filterOf({ contextId, status, statusTimestampAfter }: ListTasksRequest, owner: string): Filter<TaskDoc> {
  return {
    owner,
    ...(contextId === '' ? {} : { contextId }),
    ...(status === TaskState.TASK_STATE_UNSPECIFIED ? {} : { state: status }),
    ...(statusTimestampAfter === undefined || statusTimestampAfter === '' ? {} : { statusAt: { $gt: new Date(statusTimestampAfter) } }),
  };
}

function afterPage(filter: Filter<TaskDoc>, pageToken: string): Filter<TaskDoc> {
  if (pageToken === '') return filter;
  const { statusAt, id } = readPageToken(pageToken);
  return { $and: [filter, { $or: [{ statusAt: { $lt: statusAt } }, { statusAt, _id: { $lt: id } }] }] };
}
