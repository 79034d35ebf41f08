import { createHash, randomUUID } from 'node:crypto';
import * as a2a from '@a2a-js/sdk';
import { Message, type Task, TaskState } from '@a2a-js/sdk';
import {
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  type PushNotificationStore,
  type ServerCallContext,
} from '@a2a-js/sdk/server';
import canonicalize from 'canonicalize';
import type { Collection, Db } from 'mongodb';
import { A2A_LEGACY_VERSION } from '../../agent-card/endpoints.ts';
import type { Context } from '../context.ts';
import { OracleError } from '../errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../platform/mongo.ts';
import { ProtocolRejection } from './bindings.ts';
import { type ExecutorOptions, SkillExecutor } from './executor.ts';
import { acceptPayment, checkId, getOwner, getUser, parseMessage, planMessage, taskNotFound } from './plan.ts';
import type { TaskPush } from './push.ts';
import * as tasks from './tasks.ts';
import { isActive, isTerminal, type MongoTaskStore } from './tasks.ts';

export type A2aContext = Pick<Context, 'db' | 'log' | 'now'> & { shutdown: Pick<Context['shutdown'], 'signal' | 'onStop'> };

export interface DispatchOptions extends ExecutorOptions {
  card: a2a.AgentCard;
  push: Pick<TaskPush, keyof PushNotificationStore | 'send' | 'check' | 'deleteForTask'>;
}

interface TaskHandlerOptions extends DispatchOptions, A2aContext {
  store: MongoTaskStore;
  claims: MessageClaims;
}

interface DispatchedMessage {
  taskId: string;
  message: Message;
  request: a2a.SendMessageRequest;
  /** False if another call or process runs the message, or has run it. */
  runsHere: boolean;
}

/**
 * Runs each message exactly once, whichever process receives it how often. A process may die after any step: the message, sent again,
 * opens the task of its claim, takes over an abandoned task, or returns the task as it is.
 */
export class TaskHandler extends DefaultRequestHandler {
  readonly #options: TaskHandlerOptions;
  readonly #store: MongoTaskStore;
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: TaskHandlerOptions) {
    const { card, store, push } = options;
    // A task in INPUT_REQUIRED keeps no event bus in memory, so any process can continue it.
    const busOptions = { keepBusAliveStates: [] };
    const buses = new DefaultExecutionEventBusManager(getOwner);
    super(card, store, new SkillExecutor(options), buses, push, push, undefined, undefined, busOptions);
    this.#options = options;
    this.#store = store;
  }

  /** Waits for a terminal or interrupted state, unless `returnImmediately` is set. */
  override async sendMessage(request: a2a.SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    await this.#checkCallback(request.configuration?.taskPushNotificationConfig, request.message?.taskId ?? '', context);
    if (this.#isFixture(request)) return super.sendMessage({ ...request, message: parseMessage(request) }, context);
    const task = await this.dispatch(request, context);
    const { historyLength } = request.configuration ?? {};
    if (historyLength === undefined) return task;
    return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
  }

  async dispatch(request: a2a.SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const dispatched = await this.#accept(request, context);
    const { taskId, runsHere } = dispatched;
    if (request.configuration?.returnImmediately === true) {
      if (runsHere) this.#runInBackground(dispatched, context);
      return this.#load(taskId, context);
    }
    if (runsHere) await this.#run(dispatched, context);
    // The process that runs the message holds the capacity for it.
    else getUser(context).requestContext.detach();
    // Read from the store, because another process may have ended the task or taken it over.
    return this.#waitForAnswer(dispatched, context);
  }

  override async *sendMessageStream(
    request: a2a.SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<a2a.StreamResponse, void, undefined> {
    await this.#checkCallback(request.configuration?.taskPushNotificationConfig, request.message?.taskId ?? '', context);
    if (this.#isFixture(request)) return yield* super.sendMessageStream({ ...request, message: parseMessage(request) }, context);
    const dispatched = await this.#accept(request, context);
    if (!dispatched.runsHere) return yield* this.#stream(this.#followAnswer(dispatched, context), context);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#track(promise);
    let isComplete = false;
    try {
      for await (const event of super.sendMessageStream(dispatched.request, context)) {
        // The executor has begun, in a unit of its own: the stream lasts as long as its client likes.
        getUser(context).requestContext.detach();
        yield* this.#reconcileWithStore(event, dispatched, context);
      }
      isComplete = true;
    } finally {
      if (!isComplete) await this.#release(context);
      resolve();
    }
  }

  override async cancelTask(request: a2a.CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    const task = await this.#store.load(request.id, context);
    if (task !== undefined && isTerminal(task)) {
      const suggestedAction = 'Read the task with GetTask.';
      throw new ProtocolRejection('TaskNotCancelableError', hasEnded(task), { field: 'id', suggestedAction });
    }
    return super.cancelTask(request, context);
  }

  /** Works for a task that another process runs. */
  override async *resubscribe(
    { id }: a2a.SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<a2a.StreamResponse, void, undefined> {
    const task = await this.#load(id, context);
    if (isTerminal(task)) {
      const suggestedAction = 'Read the task with GetTask: it has no more events.';
      throw new ProtocolRejection('UnsupportedOperationError', hasEnded(task), { field: 'id', suggestedAction });
    }
    // In 0.3 an interrupted task has ended its stream: the event is `final`. 1.0 follows it on, to the bound of `followTask`.
    const until = context.requestedVersion === A2A_LEGACY_VERSION ? isAnswered : isTerminal;
    const { signal: stopping } = this.#options.shutdown;
    yield* this.#stream(tasks.followTask(this.#store, id, { context, until, stopping }), context);
  }

  async *#stream(changes: AsyncIterable<Task>, context: ServerCallContext): AsyncGenerator<a2a.StreamResponse, void, undefined> {
    for await (const event of tasks.streamTask(changes)) {
      getUser(context).requestContext.detach();
      yield event;
    }
  }

  override async createTaskPushNotificationConfig(config: a2a.TaskPushNotificationConfig, context: ServerCallContext) {
    await this.#load(config.taskId, context);
    await this.#checkCallback(config, config.taskId, context);
    return super.createTaskPushNotificationConfig(config, context);
  }

  override async getTaskPushNotificationConfig({ taskId, id }: a2a.GetTaskPushNotificationConfigRequest, context: ServerCallContext) {
    const { configs } = await this.listTaskPushNotificationConfigs({ taskId, tenant: '', pageSize: 0, pageToken: '' }, context);
    // 0.3 names a configuration without an id by its task.
    const found = configs.find((config) => config.id === (id || taskId));
    if (found !== undefined) return found;
    const suggestedAction = 'ListTaskPushNotificationConfigs lists the callbacks of the task.';
    throw new OracleError('NOT_FOUND', 'Callback not found', { field: 'id', suggestedAction });
  }

  async #checkCallback(config: a2a.TaskPushNotificationConfig | undefined, taskId: string, context: ServerCallContext): Promise<void> {
    if (config === undefined) return;
    // Waits for the name servers of a host that the client names.
    await getUser(context).requestContext.suspend(() => this.#options.push.check({ ...config, taskId }, context));
  }

  /** Messages of the test kit bypass deduplication, because it reuses ids. */
  #isFixture({ message }: a2a.SendMessageRequest): boolean {
    return message !== undefined && this.#options.fixtures?.isFixture(message.messageId) === true;
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #accept(request: a2a.SendMessageRequest, context: ServerCallContext): Promise<DispatchedMessage> {
    const sent = parseMessage(request);
    const message = acceptPayment(sent, context);
    const owner = getOwner(context);
    const { claims } = this.#options;
    const claimed = await claims.find(owner, sent);
    const continued = message.taskId === '' ? undefined : await this.#loadContinuedTask(message, claimed === null, context);
    const planned = planMessage(message, continued, context);
    // Metered before anything is stored; a repeated message was metered the first time.
    if (claimed === null) await meter(message, context);
    const freshId = randomUUID();
    const taskId = await claims.claim(owner, sent, claimed ?? (message.taskId || freshId));
    const [runsHere, task] = await this.#releaseOnError(context, async () => {
      const skill = 'call' in planned ? planned.call.skill.id : planned.skill;
      const isNew = await this.#openOrResume({ taskId, isFresh: taskId === freshId, message, skill }, context);
      const isLeased = isNew || (await this.#store.takeOver(taskId, message, context));
      return [isLeased, await this.#load(taskId, context)] as const;
    });
    // Another message won the compare-and-set, so this one is not part of the task.
    if (!runsHere && message.taskId !== '' && !tasks.hasMessage(task, message)) {
      if (isTerminal(task)) throw taskEnded(task);
      const suggestedAction = 'Wait until it ends, or open another task.';
      const problem = 'The task is running and does not accept a message';
      throw new ProtocolRejection('UnsupportedOperationError', problem, { field: 'message.taskId', suggestedAction });
    }
    return { taskId, message, request: buildSdkRequest(request, message, task), runsHere };
  }

  /** @throws OracleError NOT_FOUND, CONFLICT for a task in a terminal state */
  async #loadContinuedTask({ taskId, contextId }: Message, isNew: boolean, context: ServerCallContext): Promise<Task> {
    // A repeated message may take over the abandoned task, so it must not be failed by the read.
    const task = isNew ? await this.#load(taskId, context) : (await this.#store.look(taskId, context))?.read();
    if (task === undefined) throw taskNotFound();
    if (isNew && isTerminal(task)) throw taskEnded(task);
    if (contextId === '' || contextId === task.contextId) return task;
    const suggestedAction = 'Omit contextId, or send that of the task.';
    throw new OracleError('INPUT_INVALID', 'The task belongs to another context', { field: 'message.contextId', suggestedAction });
  }

  /** @param isFresh false if the task may exist already */
  async #openOrResume(
    { taskId, isFresh, message, skill }: { taskId: string; isFresh: boolean; message: Message; skill: string | undefined },
    context: ServerCallContext,
  ): Promise<boolean> {
    if (message.taskId !== '') return this.#store.resume(taskId, message, context);
    // Checked first, because opening may evict an older task of the owner.
    if (!isFresh && (await this.#store.look(taskId, context)) !== undefined) return false;
    const contextId = message.contextId || randomUUID();
    return this.#store.open(tasks.buildTask({ taskId, contextId, message, at: this.#options.now(), skill }), context);
  }

  #run({ request, taskId }: DispatchedMessage, context: ServerCallContext): Promise<void> {
    const run = async () => {
      try {
        await super.sendMessage(request, context);
      } catch (error) {
        // The task may have been cancelled before it started.
        if (!isTerminal(await this.#load(taskId, context))) throw error;
      }
    };
    return this.#track(this.#releaseOnError(context, run));
  }

  /** The task reports the result: no client waits. */
  #runInBackground(dispatched: DispatchedMessage, context: ServerCallContext): void {
    const run = async () => {
      await this.#run(dispatched, context);
      await this.#waitForAnswer(dispatched, context);
    };
    this.#track(getUser(context).requestContext.run(run)).catch((error: unknown) =>
      this.#options.log.error({ err: error, taskId: dispatched.taskId }, 'a task could not be carried out'),
    );
  }

  /** Replaces a final event by the stored state, if another process ended the task first. */
  async *#reconcileWithStore(
    event: a2a.StreamResponse,
    dispatched: DispatchedMessage,
    context: ServerCallContext,
  ): AsyncGenerator<a2a.StreamResponse> {
    if (event.payload?.$case !== 'statusUpdate' || isActive(event.payload.value)) return yield event;
    const task = await this.#waitForAnswer(dispatched, context);
    if (task.status?.state === event.payload.value.status?.state) return yield event;
    yield* tasks.diffTask(WORKING_TASK, task);
  }

  async #waitForAnswer(dispatched: DispatchedMessage, context: ServerCallContext): Promise<Task> {
    let last: Task | undefined;
    for await (const task of this.#followAnswer(dispatched, context)) last = task;
    return last ?? this.#load(dispatched.taskId, context);
  }

  /** Takes over the task once if its lease holder has died. */
  #followAnswer(dispatched: DispatchedMessage, context: ServerCallContext): AsyncGenerator<Task> {
    const { taskId, message } = dispatched;
    let { runsHere } = dispatched;
    const takeOver = async () => {
      if (runsHere) return false;
      runsHere = await this.#store.takeOver(taskId, message, context);
      if (runsHere) this.#runInBackground({ ...dispatched, runsHere }, context);
      return runsHere;
    };
    return tasks.followTask(this.#store, taskId, { context, until: isAnswered, stopping: this.#options.shutdown.signal, takeOver });
  }

  async #releaseOnError<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#release(context);
      throw error;
    }
  }

  /** Releases the lease, so that a retry need not wait for its expiry. */
  async #release(context: ServerCallContext): Promise<void> {
    await this.#store.release(context).catch((error: unknown) => this.#options.log.warn({ err: error }, 'a task could not be given up'));
  }

  async #load(taskId: string, context: ServerCallContext): Promise<Task> {
    checkId(taskId, 'id');
    const task = await this.#store.load(taskId, context);
    if (task === undefined) throw taskNotFound();
    return task;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const done = () => void this.#running.delete(work);
    work.then(done, done);
    return work;
  }
}

const WORKING_TASK = { artifacts: [], status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined } };

/** Terminal, or waiting for the client. */
function isAnswered(task: Task): boolean {
  return !isActive(task);
}

function hasEnded(task: Task): string {
  return `The task has ended: ${a2a.taskStateToJSON(tasks.getState(task))}`;
}

function taskEnded(task: Task): OracleError {
  const suggestedAction = 'Send the message without taskId to open a new task, optionally with the same contextId.';
  return new ProtocolRejection('UnsupportedOperationError', hasEnded(task), { field: 'message.taskId', suggestedAction });
}

/** The SDK finds the task by the ids of the message, and waits for its end. */
function buildSdkRequest(request: a2a.SendMessageRequest, message: Message, { id, contextId }: Task): a2a.SendMessageRequest {
  const { configuration } = request;
  return {
    ...request,
    message: { ...message, taskId: id, contextId, referenceTaskIds: [] },
    configuration: configuration && { ...configuration, returnImmediately: false, historyLength: undefined },
  };
}

/** Bytes per unit of the storage quota. */
const STORAGE_UNIT_BYTES = 4_096;
/** Compressed size of states, answers and errors that the service adds to a message. */
const RESPONSE_BYTES = 2_048;
/** A longer message costs as much again: to read it for a skill, and to store it. */
const SHORT_MESSAGE_BYTES = 1_024;

/** @throws OracleError RATE_LIMITED */
async function meter(message: Message, context: ServerCallContext): Promise<void> {
  const { requestContext } = getUser(context);
  const bytes = Buffer.byteLength(JSON.stringify(Message.toJSON(message)));
  if (bytes > SHORT_MESSAGE_BYTES) await requestContext.countCall();
  await requestContext.countTask(Math.ceil((bytes + RESPONSE_BYTES) / STORAGE_UNIT_BYTES));
}

/** `digest`: SHA-256 of the canonical message. */
type MessageDoc = Record<'owner' | 'messageId' | 'taskId' | 'digest', string> & { expiresAt: Date };

const COLLECTION = 'a2a_messages';
const MESSAGE_KEY = { owner: 1, messageId: 1 } as const;

export const MESSAGE_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: MESSAGE_KEY, unique: true }] },
] as const satisfies CollectionIndexes[];

/** Maps message ids to tasks, so that a repeated message reaches the same task (idempotency key: owner and `messageId`). */
export class MessageClaims {
  readonly #messages: Collection<MessageDoc>;
  readonly #now: () => Date;

  constructor(db: Db, now: () => Date) {
    this.#messages = db.collection<MessageDoc>(COLLECTION);
    this.#now = now;
  }

  /** Null for a new message. @throws OracleError CONFLICT if the id was used with other content */
  async find(owner: string, message: Message): Promise<string | null> {
    const found = await this.#messages.findOne({ owner, messageId: message.messageId }, { hint: MESSAGE_KEY });
    if (found === null) return null;
    if (found.digest === computeMessageDigest(message)) return found.taskId;
    throw new OracleError('CONFLICT', 'This messageId was used for a message with other content', {
      field: 'message.messageId',
      suggestedAction: 'Use a new messageId, e.g. a UUID; repeat one only with the same content.',
    });
  }

  /** Returns `taskId`, or the task of the same message if a concurrent claim won. @throws OracleError CONFLICT */
  async claim(owner: string, message: Message, taskId: string): Promise<string> {
    const { messageId } = message;
    const digest = computeMessageDigest(message);
    try {
      await this.#messages.insertOne({ owner, messageId, taskId, digest, expiresAt: tasks.getExpiry(owner, this.#now()) });
      return taskId;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    return (await this.find(owner, message)) ?? this.claim(owner, message, taskId);
  }
}

function computeMessageDigest(message: Message): string {
  const text = canonicalize(Message.toJSON(message)) ?? '';
  return createHash('sha256').update(text).digest('hex');
}
