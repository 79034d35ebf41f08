import { randomUUID } from 'node:crypto';
import { type Message, type SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import type { DefaultRequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { Log } from '../../../platform/log.ts';
import { getOwner, getUser } from '../agent-user.ts';
import { otherContext, taskBusy, taskEnded, taskNotFound } from '../errors/rejections.ts';
import { parsePayment, removePaymentPayload, setPayment } from '../payments/metadata.ts';
import { diffTask, type FollowDeps, followTask, streamTask } from '../tasks/follow.ts';
import { buildTask } from '../tasks/new-task.ts';
import { getState, getStateName, isActive, isTerminal } from '../tasks/states.ts';
import { hasMessage, type MongoTaskStore } from '../tasks/store.ts';
import type { MessageClaims } from './message-claims.ts';
import { parseMessage } from './parse-message.ts';
import { getPlannedSkill, type MessagePlan, planMessage } from './plan.ts';
import { countStorageUnits } from './storage-units.ts';

export interface DispatcherDeps {
  tasks: MongoTaskStore;
  claims: MessageClaims;
  /** The protocol's library: runs a message on a task that is there. */
  sdkHandler: DefaultRequestHandler;
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

/** How a message begins. */
interface TaskStart {
  taskId: string;
  /** False where the task may be there. */
  isFresh: boolean;
  message: Message;
  plan: MessagePlan;
}

/** Where a message led. */
interface DispatchedMessage {
  taskId: string;
  message: Message;
  /** What the library runs it by. */
  request: SendMessageRequest;
  /** False where the same message was run before, or is being run elsewhere. */
  runsHere: boolean;
}

/**
 * Messages, each carried out once however often and wherever it arrives. Every step can be the last one of a process: the same
 * message sent again goes on from there. A claim without a task opens it; a task that nobody works on is taken up; one that is
 * worked on, or over, is told.
 */
export class MessageDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #running = new Set<Promise<unknown>>();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Waits for the end of the task, or for the agent's next question, unless told not to. */
  async send(request: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const dispatched = await this.#accept(request, context);
    if (request.configuration?.returnImmediately !== true)
      return dispatched.runsHere ? this.#run(dispatched, context) : this.#waitForAnswer(dispatched, context);
    if (dispatched.runsHere) this.#runInBackground(dispatched, context);
    return this.#load(dispatched.taskId, context);
  }

  async *stream(request: SendMessageRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
    const dispatched = await this.#accept(request, context);
    if (!dispatched.runsHere)
      return yield* streamTask(this.#buildFollowDeps(dispatched), dispatched.taskId, { context, until: isAnswered });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#track(promise);
    let isComplete = false;
    try {
      for await (const event of this.#deps.sdkHandler.sendMessageStream(dispatched.request, context))
        yield* this.#reconcileWithStore(event, dispatched, context);
      isComplete = true;
    } finally {
      if (!isComplete) await this.#release(context);
      resolve();
    }
  }

  /** Resolves when nothing runs any more. */
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
    const before = message.taskId === '' ? undefined : await this.#loadContinuedTask(message, claimed === null, context);
    const plan = planMessage(message, before, context);
    // Before anything is stored of it; a message that came before was counted then.
    if (claimed === null) await getUser(context).requestContext.countTask?.(countStorageUnits(message));
    const freshId = randomUUID();
    const taskId = await claims.claim(owner, sent, claimed ?? (message.taskId || freshId));
    const [isOurs, task] = await this.#releaseOnError(context, async () => {
      const isNew = await this.#openOrResume({ taskId, isFresh: taskId === freshId, message, plan }, context);
      const begins = isNew || (await tasks.takeOver(taskId, message, context));
      return [begins, await this.#load(taskId, context)];
    });
    // A further message that another one was faster than is not part of the task.
    if (!isOurs && message.taskId !== '' && !hasMessage(task, message)) throw isTerminal(task) ? taskEndedError(task) : taskBusy();
    return { taskId, message, request: buildSdkRequest(request, message, task), runsHere: isOurs };
  }

  /** The task that a message goes on with. @throws OracleError NOT_FOUND, CONFLICT when it is over */
  async #loadContinuedTask({ taskId, contextId }: Message, isNew: boolean, context: ServerCallContext): Promise<Task> {
    // What the same message has left undone may be taken up: it is not to be failed before.
    const task = isNew ? await this.#load(taskId, context) : await this.#deps.tasks.peek(taskId, context);
    if (task === undefined) throw taskNotFound();
    if (isNew && isTerminal(task)) throw taskEndedError(task);
    if (contextId !== '' && contextId !== task.contextId) throw otherContext();
    return task;
  }

  async #openOrResume({ taskId, isFresh, message, plan }: TaskStart, context: ServerCallContext): Promise<boolean> {
    const { tasks, now } = this.#deps;
    if (message.taskId !== '') return tasks.resume(taskId, message, context);
    // Opening it may cost the owner an older task.
    if (!isFresh && (await tasks.peek(taskId, context)) !== undefined) return false;
    const contextId = message.contextId || randomUUID();
    return tasks.open(buildTask({ taskId, contextId, message, at: now(), skill: getPlannedSkill(plan) }), context);
  }

  #run(dispatched: DispatchedMessage, context: ServerCallContext): Promise<Task> {
    return this.#track(this.#releaseOnError(context, () => this.#execute(dispatched, context)));
  }

  /** Nobody waits for it: what becomes of it is told by the task. */
  #runInBackground(dispatched: DispatchedMessage, context: ServerCallContext): void {
    const { taskId } = dispatched;
    this.#run(dispatched, context).catch((error: unknown) =>
      this.#deps.log.error({ err: error, taskId }, 'a task could not be carried out'),
    );
  }

  async #execute(dispatched: DispatchedMessage, context: ServerCallContext): Promise<Task> {
    try {
      await this.#deps.sdkHandler.sendMessage(dispatched.request, context);
    } catch (error) {
      // Cancelled before it began.
      const task = await this.#load(dispatched.taskId, context);
      if (isTerminal(task)) return task;
      throw error;
    }
    // As it is stored: another process may have ended it, or be working on it.
    return this.#waitForAnswer(dispatched, context);
  }

  /** An event that ends the stream, as the task ended in the store: another process may have ended it before. */
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

  /** Reads a task, and carries it out here, once, when the process that worked on it has died. */
  #buildFollowDeps(dispatched: DispatchedMessage): FollowDeps {
    const { tasks, stopping } = this.#deps;
    let { runsHere: isOurs } = dispatched;
    const changeOf = async (taskId: string, context: ServerCallContext) => {
      const change = await tasks.getChangeToken(taskId, context);
      if (change !== '' || isOurs) return change;
      isOurs = await this.#takeOver(dispatched, context);
      return tasks.getChangeToken(taskId, context);
    };
    const load: MongoTaskStore['load'] = (taskId, context) => tasks.load(taskId, context);
    const peek: MongoTaskStore['peek'] = (taskId, context) => tasks.peek(taskId, context);
    return { tasks: { getChangeToken: changeOf, load, peek }, stopping };
  }

  async #takeOver(dispatched: DispatchedMessage, context: ServerCallContext): Promise<boolean> {
    const isOurs = await this.#deps.tasks.takeOver(dispatched.taskId, dispatched.message, context);
    if (isOurs) this.#runInBackground({ ...dispatched, runsHere: isOurs }, context);
    return isOurs;
  }

  async #releaseOnError<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#release(context);
      throw error;
    }
  }

  /** The same message can be taken up again at once: what broke off here is not waited for. */
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

const WORKING_TASK = { artifacts: [], status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined } };

function taskEndedError(task: Task): Error {
  return taskEnded(getStateName(task));
}

/** Ended, or waiting for the owner's next message. */
function isAnswered(task: Task): boolean {
  return !isActive(task);
}

/** The library finds the task by the message, and waits for its end. */
function buildSdkRequest(request: SendMessageRequest, message: Message, { id, contextId }: Task): SendMessageRequest {
  const { configuration } = request;
  return {
    ...request,
    message: { ...message, taskId: id, contextId, referenceTaskIds: [] },
    configuration: configuration && { ...configuration, returnImmediately: false, historyLength: undefined },
  };
}
