import { createHash, randomUUID } from 'node:crypto';
import { Message, type SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import type { DefaultRequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import canonicalize from 'canonicalize';
import type { Collection, Db } from 'mongodb';
import { parseRefCode } from '../commerce/ledger.ts';
import { OracleError } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import { type CollectionIndexes, isDuplicateKey } from '../platform/mongo.ts';
import { isPlainObject } from '../platform/validation.ts';
import { ProtocolRejection, taskNotFound } from './bindings.ts';
import { getPlannedSkill, parseMessage, planMessage } from './plan.ts';
import { getOwner, getUser, type MessagePayment, PAYMENT_METADATA, removePaymentPayload, runUnit } from './protocol.ts';
import { diffTask, type FollowDeps, followTask, streamTask } from './task-events.ts';
import { buildTask, getExpiry, getState, getStateName, hasMessage, isActive, isTerminal, type MongoTaskStore } from './task-store.ts';

interface DispatcherDeps {
  tasks: MongoTaskStore;
  claims: MessageClaims;
  sdkHandler: DefaultRequestHandler;
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

interface DispatchedMessage {
  taskId: string;
  message: Message;
  request: SendMessageRequest;
  /** False if another call or process runs the message, or has run it. */
  runsHere: boolean;
}

/**
 * Runs each message exactly once, whichever process receives it how often. A process may die after any step: the message, sent again,
 * opens the task of its claim, takes over an abandoned task, or returns the task as it is.
 */
export class MessageDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #running = new Set<Promise<unknown>>();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Waits for a terminal or interrupted state, unless `returnImmediately` is set. */
  async send(request: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const dispatched = await this.#accept(request, context);
    if (request.configuration?.returnImmediately === true) {
      if (dispatched.runsHere) this.#runInBackground(dispatched, context);
      return this.#load(dispatched.taskId, context);
    }
    if (dispatched.runsHere) return this.#run(dispatched, context);
    // The process that runs the message holds the capacity for it.
    getUser(context).requestContext.detach?.();
    return this.#waitForAnswer(dispatched, context);
  }

  async *stream(request: SendMessageRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
    const dispatched = await this.#accept(request, context);
    if (!dispatched.runsHere)
      return yield* streamTask(this.#buildFollowDeps(dispatched), dispatched.taskId, { context, until: isAnswered });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#track(promise);
    let isComplete = false;
    try {
      for await (const event of this.#deps.sdkHandler.sendMessageStream(dispatched.request, context)) {
        // The executor has begun, in a unit of its own: the stream lasts as long as its client likes.
        getUser(context).requestContext.detach?.();
        yield* this.#reconcileWithStore(event, dispatched, context);
      }
      isComplete = true;
    } finally {
      if (!isComplete) await this.#release(context);
      resolve();
    }
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #accept(request: SendMessageRequest, context: ServerCallContext): Promise<DispatchedMessage> {
    const sent = parseMessage(request);
    setPayment(context, parsePayment(sent));
    const message = removePaymentPayload(sent);
    const owner = getOwner(context);
    const { claims, tasks } = this.#deps;
    const claimed = await claims.find(owner, sent);
    const continued = message.taskId === '' ? undefined : await this.#loadContinuedTask(message, claimed === null, context);
    const plan = planMessage(message, continued, context);
    // Metered before anything is stored; a repeated message was metered the first time.
    if (claimed === null) await meter(message, context);
    const freshId = randomUUID();
    const taskId = await claims.claim(owner, sent, claimed ?? (message.taskId || freshId));
    const [runsHere, task] = await this.#releaseOnError(context, async () => {
      const skill = getPlannedSkill(plan);
      const isNew = await this.#openOrResume({ taskId, isFresh: taskId === freshId, message, skill }, context);
      const isLeased = isNew || (await tasks.takeOver(taskId, message, context));
      return [isLeased, await this.#load(taskId, context)] as const;
    });
    // Another message won the compare-and-set, so this one is not part of the task.
    if (!runsHere && message.taskId !== '' && !hasMessage(task, message)) {
      if (isTerminal(task)) throw taskEnded(getStateName(task));
      const suggestedAction = 'Wait until it ends, or open another task.';
      const problem = 'The task is running and does not accept a message';
      throw new ProtocolRejection('UnsupportedOperationError', problem, { field: 'message.taskId', suggestedAction });
    }
    return { taskId, message, request: buildSdkRequest(request, message, task), runsHere };
  }

  /** @throws OracleError NOT_FOUND, CONFLICT for a task in a terminal state */
  async #loadContinuedTask({ taskId, contextId }: Message, isNew: boolean, context: ServerCallContext): Promise<Task> {
    // A repeated message may take over the abandoned task, so it must not be failed by the read.
    const task = isNew ? await this.#load(taskId, context) : await this.#deps.tasks.peek(taskId, context);
    if (task === undefined) throw taskNotFound();
    if (isNew && isTerminal(task)) throw taskEnded(getStateName(task));
    if (contextId === '' || contextId === task.contextId) return task;
    const suggestedAction = 'Omit contextId, or send that of the task.';
    throw new OracleError('INPUT_INVALID', 'The task belongs to another context', { field: 'message.contextId', suggestedAction });
  }

  /** @param isFresh false if the task may exist already */
  async #openOrResume(
    { taskId, isFresh, message, skill }: { taskId: string; isFresh: boolean; message: Message; skill: string | undefined },
    context: ServerCallContext,
  ): Promise<boolean> {
    const { tasks, now } = this.#deps;
    if (message.taskId !== '') return tasks.resume(taskId, message, context);
    // Checked first, because opening may evict an older task of the owner.
    if (!isFresh && (await tasks.peek(taskId, context)) !== undefined) return false;
    const contextId = message.contextId || randomUUID();
    return tasks.open(buildTask({ taskId, contextId, message, at: now(), skill }), context);
  }

  #run(dispatched: DispatchedMessage, context: ServerCallContext): Promise<Task> {
    return this.#track(this.#releaseOnError(context, () => this.#execute(dispatched, context)));
  }

  /** The task reports the result: no client waits. */
  #runInBackground(dispatched: DispatchedMessage, context: ServerCallContext): void {
    const { taskId } = dispatched;
    runUnit(context, () => this.#run(dispatched, context)).catch((error: unknown) =>
      this.#deps.log.error({ err: error, taskId }, 'a task could not be carried out'),
    );
  }

  async #execute(dispatched: DispatchedMessage, context: ServerCallContext): Promise<Task> {
    try {
      await this.#deps.sdkHandler.sendMessage(dispatched.request, context);
    } catch (error) {
      // The task was cancelled before it started.
      const task = await this.#load(dispatched.taskId, context);
      if (isTerminal(task)) return task;
      throw error;
    }
    // Read from the store, because another process may have ended the task or taken it over.
    return this.#waitForAnswer(dispatched, context);
  }

  /** Replaces a final event by the stored state, if another process ended the task first. */
  async *#reconcileWithStore(
    event: StreamResponse,
    dispatched: DispatchedMessage,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse> {
    if (event.payload?.$case !== 'statusUpdate' || isActive(event.payload.value)) return yield event;
    const task = await this.#waitForAnswer(dispatched, context);
    if (getState(task) === getState(event.payload.value)) return yield event;
    yield* diffTask(WORKING_TASK, task);
  }

  async #waitForAnswer(dispatched: DispatchedMessage, context: ServerCallContext): Promise<Task> {
    let last: Task | undefined;
    for await (const task of followTask(this.#buildFollowDeps(dispatched), dispatched.taskId, { context, until: isAnswered })) last = task;
    return last ?? this.#load(dispatched.taskId, context);
  }

  /** Read access for followers; takes over the task once if its lease holder has died. */
  #buildFollowDeps(dispatched: DispatchedMessage): FollowDeps {
    const { tasks, stopping } = this.#deps;
    let { runsHere } = dispatched;
    const getChangeToken = async (taskId: string, context: ServerCallContext) => {
      const change = await tasks.getChangeToken(taskId, context);
      if (change !== '' || runsHere) return change;
      runsHere = await tasks.takeOver(taskId, dispatched.message, context);
      if (runsHere) this.#runInBackground({ ...dispatched, runsHere }, context);
      return tasks.getChangeToken(taskId, context);
    };
    return { tasks: { getChangeToken, load: tasks.load.bind(tasks), peek: tasks.peek.bind(tasks) }, stopping };
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
    const { tasks, log } = this.#deps;
    await tasks.release(context).catch((error: unknown) => log.warn({ err: error }, 'a task could not be given up'));
  }

  async #load(taskId: string, context: ServerCallContext): Promise<Task> {
    const task = await this.#deps.tasks.load(taskId, context);
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

function taskEnded(state: string): OracleError {
  const suggestedAction = 'Send the message without taskId to open a new task, optionally with the same contextId.';
  return new ProtocolRejection('UnsupportedOperationError', `The task has ended: ${state}`, { field: 'message.taskId', suggestedAction });
}

/** Undefined without payment metadata. @throws OracleError INPUT_INVALID naming the member */
function parsePayment({ metadata }: Pick<Message, 'metadata'>): MessagePayment | undefined {
  const { [PAYMENT_METADATA.status]: status, [PAYMENT_METADATA.payload]: payload, [PAYMENT_METADATA.ref]: ref } = metadata ?? {};
  if (status === undefined && payload === undefined) return undefined;
  if (status === 'payment-rejected') return { do: 'decline' };
  if (status !== 'payment-submitted')
    throw invalidPaymentMember(PAYMENT_METADATA.status, 'must be "payment-submitted" or "payment-rejected"');
  const rule = 'must be an object: the PaymentPayload that an x402 client signs for the requirements of the task';
  if (!isPlainObject(payload)) throw invalidPaymentMember(PAYMENT_METADATA.payload, rule);
  if (ref !== undefined) parseRefCode(typeof ref === 'string' ? ref : '');
  return { do: 'submit', payload, ref };
}

function setPayment(context: ServerCallContext, payment: MessagePayment | undefined): void {
  context.state.set(PAYMENT_METADATA.payload, payment);
}

function invalidPaymentMember(member: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `message.metadata["${member}"] ${problem}`, {
    field: `message.metadata.${member}`,
    suggestedAction: `Send "${PAYMENT_METADATA.status}": "payment-submitted" with "${PAYMENT_METADATA.payload}", or "payment-rejected" to end the task.`,
  });
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
  if (bytes > SHORT_MESSAGE_BYTES) await requestContext.countCall?.();
  await requestContext.countTask?.(Math.ceil((bytes + RESPONSE_BYTES) / STORAGE_UNIT_BYTES));
}

const WORKING_TASK = { artifacts: [], status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined } };

/** Terminal, or waiting for the client. */
function isAnswered(task: Task): boolean {
  return !isActive(task);
}

/** The SDK finds the task by the ids of the message, and waits for its end. */
function buildSdkRequest(request: SendMessageRequest, message: Message, { id, contextId }: Task): SendMessageRequest {
  const { configuration } = request;
  return {
    ...request,
    message: { ...message, taskId: id, contextId, referenceTaskIds: [] },
    configuration: configuration && { ...configuration, returnImmediately: false, historyLength: undefined },
  };
}

/** `digest`: SHA-256 of the canonical message. */
type MessageDoc = Record<'owner' | 'messageId' | 'taskId' | 'digest', string> & { expiresAt: Date };

const COLLECTION = 'a2a_messages';
const MESSAGE_KEY = { owner: 1, messageId: 1 } as const;

export const MESSAGE_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: MESSAGE_KEY, unique: true }, { key: { expiresAt: 1 } }] },
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
      await this.#messages.insertOne({ owner, messageId, taskId, digest, expiresAt: getExpiry(owner, this.#now()) });
      return taskId;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    return (await this.find(owner, message)) ?? this.claim(owner, message, taskId);
  }

  async purge(now: Date): Promise<void> {
    await this.#messages.deleteMany({ expiresAt: { $lte: now } });
  }
}

function computeMessageDigest(message: Message): string {
  const text = canonicalize(Message.toJSON(message)) ?? '';
  return createHash('sha256').update(text).digest('hex');
}
