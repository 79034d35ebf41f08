import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type * as a2a from '@a2a-js/sdk';
import { Message, type Part, Role, Task, TaskState } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import type { Collection, Db, Filter } from 'mongodb';
import { z } from 'zod';
import { EXTENSION_URIS } from '../../agent-card/card.ts';
import { TASK_WINDOW_SECONDS } from '../auth/rate-limits.ts';
import { OracleError, toClientError } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import { type CollectionIndexes, isFirstWrite } from '../platform/mongo.ts';
import { repeatIfUncertain } from '../platform/retry.ts';
import { parseJsonOrNull } from '../platform/validation.ts';
import { errorParts, getOwner, getReceipts, getUser, taskNotFound } from './plan.ts';

/** Wallet tasks live longer than anonymous ones, whose address another client may hold tomorrow. */
function isWalletOwner(owner: string): boolean {
  return owner.startsWith('wallet:');
}

const { TASK_STATE_SUBMITTED, TASK_STATE_WORKING, TASK_STATE_INPUT_REQUIRED, TASK_STATE_AUTH_REQUIRED, TASK_STATE_UNSPECIFIED } = TaskState;
const { TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_CANCELED, TASK_STATE_REJECTED } = TaskState;
const TERMINAL_STATES: readonly TaskState[] = [TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_CANCELED, TASK_STATE_REJECTED];
const ACTIVE_STATES: readonly TaskState[] = [TASK_STATE_SUBMITTED, TASK_STATE_WORKING];

export function getState({ status }: Pick<Task, 'status'>): TaskState {
  return status?.state ?? TASK_STATE_UNSPECIFIED;
}

export function isTerminal(task: Pick<Task, 'status'>): boolean {
  return TERMINAL_STATES.includes(getState(task));
}

/** Neither terminal nor waiting for the client. */
export function isActive(task: Pick<Task, 'status'>): boolean {
  return ACTIVE_STATES.includes(getState(task));
}

interface TaskStatusFields {
  taskId: string;
  contextId: string;
  state: TaskState;
  at: Date;
  /** Content of the status message. */
  parts?: Part[];
  /** Metadata of the status message, for the x402 extension. */
  messageMetadata?: Record<string, unknown>;
}

export function buildTaskStatus({ taskId, contextId, state, at, parts, messageMetadata: metadata }: TaskStatusFields): a2a.TaskStatus {
  const extensions = metadata === undefined ? [] : [EXTENSION_URIS.x402];
  const ids = { messageId: randomUUID(), taskId, contextId, role: Role.ROLE_AGENT };
  return { state, message: parts && { ...ids, parts, metadata, extensions, referenceTaskIds: [] }, timestamp: at.toISOString() };
}

/** @param fields `skill` is set if it is known already */
export function buildTask(fields: { taskId: string; contextId: string; message: Message; at: Date; skill?: string }): Task {
  const { taskId, contextId, message, at, skill } = fields;
  return {
    id: taskId,
    contextId,
    status: buildTaskStatus({ taskId, contextId, state: TASK_STATE_SUBMITTED, at }),
    artifacts: [],
    history: [{ ...message, taskId, contextId }],
    metadata: skill === undefined ? undefined : { skill },
  };
}

/** Stored tasks per quota key. An address has one key for programs and one for pages. */
export const MAX_TASKS = { wallet: 2_000, address: 200 } as const;

/** Eviction order; running tasks are never evicted. */
const EVICTION_ORDER = [TERMINAL_STATES, [TASK_STATE_INPUT_REQUIRED, TASK_STATE_AUTH_REQUIRED, TASK_STATE_UNSPECIFIED]];

export interface TaskDoc {
  _id: string;
  owner: string;
  /** Quota key, which several owners may share. */
  countedAs: string;
  contextId: string;
  state: TaskState;
  statusAt: Date;
  /** `messageId` of the owner's last message. */
  asked: string | null;
  /** Changes with each lease holder. */
  run: string;
  /** Heartbeat of the lease holder, by the clock of the database. */
  aliveAt: Date;
  createdAt: Date;
  expiresAt: Date;
  /** Changes with each write. */
  change: string;
  /** Deflated JSON in base64: as a sub-document its keys might be rejected, and the SDK repeats the newest message in the history. */
  task: string;
}

const inflateTask = ({ task }: Pick<TaskDoc, 'task'>) => inflateRawSync(Buffer.from(task, 'base64')).toString();

export function unpackTask(doc: Pick<TaskDoc, 'task'>): Task {
  return Task.fromJSON(JSON.parse(inflateTask(doc)));
}

const COLLECTION = 'a2a_tasks';
/** Hint for queries by id: the embedded engine does not choose among several indexes. */
const BY_ID = { hint: { _id: 1 } } as const;
const LIST_KEY = { owner: 1, statusAt: -1, _id: -1 } as const;
const CAPACITY_KEY = { countedAs: 1, createdAt: 1 } as const;

export const TASK_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: LIST_KEY }, { key: CAPACITY_KEY }] },
] as const satisfies CollectionIndexes[];

/** Above the duration of any skill. Measured by the clock of the database, so that clock skew of processes does not matter. */
export const TASK_LEASE_MS = 120_000;

/** Update that renews the lease. */
const HEARTBEAT = { $currentDate: { aliveAt: true } } as const;
const IS_EXPIRED = { $lte: ['$aliveAt', { $subtract: ['$$NOW', TASK_LEASE_MS] }] };
const ABANDONED_FILTER = { state: { $in: [...ACTIVE_STATES] }, $expr: IS_EXPIRED };
const IS_ABANDONED = { $and: [{ $in: ['$state', [...ACTIVE_STATES]] }, IS_EXPIRED] };
const READ_FIELDS = { owner: 1, run: 1, aliveAt: 1, change: 1 };

type StoredTask = Pick<TaskDoc, '_id' | 'task' | keyof typeof READ_FIELDS> & { isAbandoned: boolean };

/** Tasks in MongoDB, scoped by owner. Terminal states are final for all processes; a task whose lease has expired is failed on read. */
export class MongoTaskStore implements TaskStore {
  readonly #tasks: Collection<TaskDoc>;
  /** Leases by request: a process that lost its lease must not overwrite the task of the next holder. */
  readonly #runs = new WeakMap<ServerCallContext, { taskId: string; run: string }>();
  readonly #now: () => Date;
  readonly #onEvicted: (owner: string, taskId: string) => Promise<void>;

  constructor(db: Db, now: () => Date, onEvicted: (owner: string, taskId: string) => Promise<void> = async () => undefined) {
    this.#tasks = db.collection<TaskDoc>(COLLECTION);
    this.#now = now;
    this.#onEvicted = onEvicted;
  }

  /** Inserts a task with a lease, evicting an older one at the limit; false if the id exists. @throws OracleError RATE_LIMITED */
  async open(task: Task, context: ServerCallContext): Promise<boolean> {
    const { rateLimitKey: countedAs } = getUser(context);
    const max = isWalletOwner(countedAs) ? MAX_TASKS.wallet : MAX_TASKS.address;
    let excess = (await this.#tasks.countDocuments({ countedAs }, { hint: CAPACITY_KEY })) - max + 1;
    for (const states of EVICTION_ORDER) if (excess > 0) excess -= await this.#evict({ countedAs, state: { $in: [...states] } }, excess);
    if (excess <= 0) return this.#insert(task, context);
    const suggestedAction = 'Wait until some of them end.';
    throw new OracleError('RATE_LIMITED', `${max} of your tasks are running`, { suggestedAction, retryAfterSeconds: 60 });
  }

  async #evict(filter: Filter<TaskDoc>, max: number): Promise<number> {
    const found = this.#tasks.find(filter, { hint: CAPACITY_KEY, projection: { owner: 1 } });
    const oldest = await found.sort({ createdAt: 1 }).limit(max).toArray();
    for (const { _id, owner } of oldest) {
      await this.#tasks.deleteOne({ _id, state: filter.state }, BY_ID);
      await this.#onEvicted(owner, _id);
    }
    return oldest.length;
  }

  async #insert(task: Task, context: ServerCallContext): Promise<boolean> {
    const [run, owner, createdAt] = [this.#registerRun(task.id, context), getOwner(context), this.#now()];
    const own = { expiresAt: getExpiry(owner, createdAt), countedAs: getUser(context).rateLimitKey, run, createdAt };
    // An upsert whose filter never matches, because only updates can use the clock of the database.
    const [noMatch, $set] = [
      { _id: task.id, state: { $exists: false } },
      { ...own, ...this.#toFields(task, owner) },
    ];
    return isFirstWrite(this.#tasks.updateOne(noMatch, { $set, ...HEARTBEAT }, { ...BY_ID, upsert: true }));
  }

  /** Acquires the expired lease of a task that ran this message; false if the holder is alive, or another process won. */
  takeOver(taskId: string, { messageId }: Message, context: ServerCallContext): Promise<boolean> {
    return this.#startRun({ _id: taskId, owner: getOwner(context), asked: messageId, ...ABANDONED_FILTER }, {}, context);
  }

  /** Acquires a task in INPUT_REQUIRED for a message; false in other states, or if another message won. */
  async resume(taskId: string, message: Message, context: ServerCallContext): Promise<boolean> {
    const owner = getOwner(context);
    const found = await this.#tasks.findOne({ _id: taskId, owner, state: TASK_STATE_INPUT_REQUIRED }, BY_ID);
    if (found === null) return false;
    const task = unpackTask(found);
    if (hasMessage(task, message)) return false;
    task.history = [...task.history, message];
    task.status = buildTaskStatus({ taskId, contextId: task.contextId, state: TASK_STATE_SUBMITTED, at: this.#now() });
    // Compare-and-set on the serialized task, which covers all its fields.
    return this.#startRun({ _id: taskId, state: found.state, task: found.task }, this.#toFields(task, owner), context);
  }

  /** Compare-and-set; false if the filter no longer matches. */
  async #startRun(filter: Filter<TaskDoc> & { _id: string }, fields: Partial<TaskDoc>, context: ServerCallContext): Promise<boolean> {
    const $set = { ...fields, run: this.#registerRun(filter._id, context) };
    return (await this.#tasks.updateOne(filter, { $set, ...HEARTBEAT }, BY_ID)).modifiedCount === 1;
  }

  /** Registered before the write, so that a write whose response is lost can be released too. */
  #registerRun(taskId: string, context: ServerCallContext): string {
    const run = randomUUID();
    this.#runs.set(context, { taskId, run });
    return run;
  }

  /** Releases the lease of the request, so that a retry can acquire it at once. */
  async release(context: ServerCallContext): Promise<void> {
    const lease = this.#runs.get(context);
    if (lease === undefined) return;
    const filter = { _id: lease.taskId, run: lease.run, state: { $in: [...ACTIVE_STATES] } };
    await repeatIfUncertain(() => this.#tasks.updateOne(filter, { $set: { aliveAt: new Date(0) } }, BY_ID));
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    const [owner, lease] = [getOwner(context), this.#runs.get(context)];
    const filter = { _id: task.id, owner, state: { $nin: [...TERMINAL_STATES] }, ...(lease && { run: lease.run }) };
    const { matchedCount } = await this.#tasks.updateOne(filter, { $set: this.#toFields(task, owner), ...HEARTBEAT }, BY_ID);
    // No match: the task is terminal, leased by another request, or of another owner, and stays as it is.
    if (matchedCount === 0) await this.#insert(task, context);
  }

  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const found = await this.look(taskId, context);
    if (found?.isAbandoned && (await this.#fail(found))) return this.load(taskId, context);
    return found?.read();
  }

  /** Does not fail an abandoned task. `change` differs after each write. @param seen the change whose task is not sent again, and cannot be read */
  async look(taskId: string, context: ServerCallContext, seen = ''): Promise<(StoredTask & { read(): Task }) | undefined> {
    const task = { $cond: [{ $eq: ['$change', seen] }, '', '$task'] };
    const options = { ...BY_ID, projection: { ...READ_FIELDS, task, isAbandoned: IS_ABANDONED } };
    const found = await this.#tasks.findOne<StoredTask>({ _id: taskId, owner: getOwner(context) }, options);
    return found === null ? undefined : { ...found, read: () => unpackTask(found) };
  }

  /** False if the task has changed meanwhile. */
  async #fail(found: Pick<TaskDoc, '_id' | 'owner' | 'run' | 'aliveAt' | 'task'>): Promise<boolean> {
    const task = unpackTask(found);
    const suggestedAction =
      'Send the message again with a new messageId, and with the same payment if there was one: it is not charged twice.';
    const error = new OracleError('SHUTTING_DOWN', 'The service stopped while this task was running', { suggestedAction });
    const [{ id: taskId, contextId }, at, parts] = [task, this.#now(), errorParts(toClientError(error))];
    task.status = buildTaskStatus({ taskId, contextId, state: TASK_STATE_FAILED, at, parts });
    const filter = { _id: found._id, state: { $in: [...ACTIVE_STATES] }, run: found.run, aliveAt: found.aliveAt };
    return (await this.#tasks.updateOne(filter, { $set: this.#toFields(task, found.owner) }, BY_ID)).matchedCount === 1;
  }

  /** Fills a page up to its limits. */
  async list(params: a2a.ListTasksRequest, context: ServerCallContext): Promise<a2a.ListTasksResponse> {
    const [owner, { pageSize = 50 }] = [getOwner(context), params];
    const page: a2a.ListTasksResponse = { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
    const all = buildListFilter(params, owner);
    const rest = applyPageToken(all, params.pageToken);
    // Others share the address of an anonymous caller: who knows the id of a task reads it.
    if (!isWalletOwner(owner)) return page;
    const hint = { hint: LIST_KEY };
    for await (const abandoned of this.#tasks.find({ owner, ...ABANDONED_FILTER }, hint)) await this.#fail(abandoned);
    page.totalSize = await this.#tasks.countDocuments(all, hint);
    const found = this.#tasks.find(rest, hint).sort({ statusAt: -1, _id: -1 });
    let [responseBytes, readBytes, last] = [0, 0, undefined as TaskDoc | undefined];
    // Small batches, because the limit may be reached after any task.
    for await (const doc of found.limit(pageSize + 1).batchSize(10)) {
      const json = inflateTask(doc);
      const task = trimTask(Task.fromJSON(JSON.parse(json)), params);
      responseBytes += Buffer.byteLength(JSON.stringify(Task.toJSON(task)));
      readBytes += json.length;
      const isFull = page.tasks.length === pageSize || responseBytes > PAGE_LIMITS.responseBytes || readBytes > PAGE_LIMITS.readBytes;
      if (last !== undefined && isFull) {
        page.nextPageToken = Buffer.from(JSON.stringify([last.statusAt.getTime(), last._id])).toString('base64url');
        break;
      }
      page.tasks.push(task);
      last = doc;
    }
    return page;
  }

  #toFields(task: Task, owner: string) {
    const now = this.#now();
    const isPaid = getReceipts(task).some((receipt) => 'success' in receipt && receipt.success === true);
    const expiresAt = isPaid && !isWalletOwner(owner) ? new Date(now.getTime() + RETENTION_MS.paid) : getExpiry(owner, now);
    const kept = { ...task, history: limitHistory(task.history) };
    return {
      owner,
      contextId: task.contextId,
      state: getState(task),
      statusAt: new Date(task.status?.timestamp ?? now),
      asked: task.history.findLast(({ role }) => role === Role.ROLE_USER)?.messageId ?? null,
      ...((isPaid || isWalletOwner(owner)) && { expiresAt }),
      change: randomUUID(),
      task: deflateRawSync(JSON.stringify(Task.toJSON(kept))).toString('base64'),
    };
  }
}

export function hasMessage({ history }: Pick<Task, 'history'>, { messageId }: Message): boolean {
  return history.some((message) => message.role === Role.ROLE_USER && message.messageId === messageId);
}

/** Limits of the stored history; the newest message is always kept. */
export const HISTORY_LIMITS = { messages: 40, bytes: 64 * 1_024 } as const;

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

/** Wallet tasks after their last change, paid ones after payment, anonymous ones after opening: the window in which they are metered. */
const RETENTION_MS = { wallet: 7 * DAY_MS, paid: DAY_MS, anonymous: TASK_WINDOW_SECONDS * 1_000 } as const;

export function getExpiry(owner: string, now: Date): Date {
  return new Date(now.getTime() + (isWalletOwner(owner) ? RETENTION_MS.wallet : RETENTION_MS.anonymous));
}

/** Maximum JSON bytes that a page returns and reads; it holds at least one task. */
export const PAGE_LIMITS = { responseBytes: 1_000_000, readBytes: 8_000_000 } as const;

function trimTask(task: Task, { includeArtifacts, historyLength = Number.POSITIVE_INFINITY }: a2a.ListTasksRequest): Task {
  const history = historyLength === 0 ? [] : task.history.slice(-historyLength);
  return { ...task, history, artifacts: includeArtifacts ? task.artifacts : [] };
}

function buildListFilter({ contextId, status, statusTimestampAfter }: a2a.ListTasksRequest, owner: string): Filter<TaskDoc> {
  return {
    owner,
    ...(contextId !== '' && { contextId }),
    ...(status !== TASK_STATE_UNSPECIFIED && { state: status }),
    ...(statusTimestampAfter && { statusAt: { $gt: new Date(statusTimestampAfter) } }),
  };
}

const PAGE_TOKEN = z.tuple([z.int().min(0).max(8.64e15), z.string().min(1).max(128)]);

/** Restricts a filter to the tasks after a page token. @throws OracleError INPUT_INVALID */
function applyPageToken(filter: Filter<TaskDoc>, pageToken: string): Filter<TaskDoc> {
  if (pageToken === '') return filter;
  const parsed = PAGE_TOKEN.safeParse(parseJsonOrNull(Buffer.from(pageToken, 'base64url').toString('utf8')));
  if (!parsed.success) {
    const suggestedAction = 'Send nextPageToken of the page before as it is, or leave it out for the first page.';
    throw new OracleError('INPUT_INVALID', 'This page token was not issued here', { field: 'pageToken', suggestedAction });
  }
  const [statusMs, id] = parsed.data;
  const statusAt = new Date(statusMs);
  return { $and: [filter, { $or: [{ statusAt: { $lt: statusAt } }, { statusAt, _id: { $lt: id } }] }] };
}

export interface FollowOptions {
  context: ServerCallContext;
  until(task: Task): boolean;
  /** Aborted at shutdown; followers then end with the last state. */
  stopping: AbortSignal;
  /** Continues a task whose lease holder has died; without it, or if false, the task is failed. */
  takeOver?(): Promise<boolean>;
}

const MIN_POLL_INTERVAL_MS = 50;
const MAX_POLL_INTERVAL_MS = 1_000;
/** Ends a stream without a final state after about five minutes. */
const MAX_POLLS = 310;

/** Yields a task as it is, then after each change, whichever process runs it. @throws OracleError NOT_FOUND */
export async function* followTask(
  tasks: Pick<MongoTaskStore, 'look' | 'load'>,
  taskId: string,
  { context, until, stopping, takeOver = async () => false }: FollowOptions,
): AsyncGenerator<Task> {
  const signal = AbortSignal.any([stopping, getUser(context).disconnectSignal].filter((one) => one !== undefined));
  let change: string | undefined;
  for (let look = 0, pauseMs = MIN_POLL_INTERVAL_MS; look < MAX_POLLS; look++) {
    const found = await tasks.look(taskId, context, change);
    if (found === undefined) throw taskNotFound();
    const isFailed = found.isAbandoned && !(await takeOver());
    const task = isFailed ? await tasks.load(taskId, context) : found.change === change ? undefined : found.read();
    change = found.change;
    if (task !== undefined) {
      yield task;
      if (until(task)) return;
    }
    if (!(await delay(pauseMs, true, { signal }).catch(() => false))) return;
    pauseMs = Math.min(pauseMs * 1.5, MAX_POLL_INTERVAL_MS);
  }
}

/** The task, then the events of its changes. */
export async function* streamTask(changes: AsyncIterable<Task>): AsyncGenerator<a2a.StreamResponse, void, undefined> {
  let before: Task | undefined;
  for await (const task of changes) {
    if (before === undefined) yield { payload: { $case: 'task', value: task } };
    else yield* diffTask(before, task);
    before = task;
  }
}

/** Events between two snapshots in causal order: WORKING precedes the artifacts that follow from it. */
export function* diffTask(before: Pick<Task, 'artifacts' | 'status'>, task: Task): Generator<a2a.StreamResponse> {
  const { id: taskId, contextId, status } = task;
  const toUpdate = (changed = status): a2a.StreamResponse => ({
    payload: { $case: 'statusUpdate', value: { taskId, contextId, status: changed, metadata: undefined } },
  });
  const moved = before.status?.state !== status?.state || before.status?.timestamp !== status?.timestamp;
  const works = moved && getState(task) === TASK_STATE_WORKING;
  const artifacts = task.artifacts.filter(({ artifactId }) => !before.artifacts.some((one) => one.artifactId === artifactId));
  if (works) yield toUpdate();
  else if (artifacts.length > 0 && getState(before) !== TASK_STATE_WORKING && before.artifacts.length === 0)
    yield toUpdate(status && { ...status, state: TASK_STATE_WORKING, message: undefined });
  for (const artifact of artifacts) {
    const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
    yield { payload: { $case: 'artifactUpdate', value } };
  }
  if (moved && !works) yield toUpdate();
}
