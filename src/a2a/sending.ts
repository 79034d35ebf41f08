import { randomUUID } from 'node:crypto';
import { type Message, type SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import type { DefaultRequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { Log } from '../log.ts';
import { checkMessage } from './check-message.ts';
import { changesOf, type FollowParts, followTask, streamTask } from './follow.ts';
import type { MessageClaims } from './message-claims.ts';
import { messageUnits } from './message-units.ts';
import { newTask } from './new-task.ts';
import { ownerOf, userOf } from './owner.ts';
import { notePayment, paymentIn, withoutPayload } from './payment.ts';
import { type Plan, planFor, skillIn } from './read-call.ts';
import { otherContext, taskBusy, taskNotFound, taskOver } from './refusal.ts';
import { isActive, isTerminal, stateName, stateOf } from './task-states.ts';
import { hasMessage, type MongoTaskStore } from './task-store.ts';

export interface SendingParts {
  tasks: MongoTaskStore;
  claims: MessageClaims;
  /** The protocol's library: runs a message on a task that is there. */
  library: DefaultRequestHandler;
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

/** How a message begins. */
interface Start {
  taskId: string;
  /** False where the task may be there. */
  isFresh: boolean;
  message: Message;
  plan: Plan;
}

/** Where a message led. */
interface Begun {
  taskId: string;
  message: Message;
  /** What the library runs it by. */
  request: SendMessageRequest;
  /** False where the same message was run before, or is being run elsewhere. */
  isOurs: boolean;
}

/**
 * Messages, each carried out once however often and wherever it arrives. Every step can be the last one of a process: the same
 * message sent again goes on from there. A claim without a task opens it; a task that nobody works on is taken up; one that is
 * worked on, or over, is told.
 */
export class Sending {
  readonly #parts: SendingParts;
  readonly #running = new Set<Promise<unknown>>();

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /** Waits for the end of the task, or for the agent's next question, unless told not to. */
  async send(request: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const begun = await this.#begin(request, context);
    if (request.configuration?.returnImmediately !== true) return begun.isOurs ? this.#run(begun, context) : this.#wait(begun, context);
    if (begun.isOurs) this.#runAlone(begun, context);
    return this.#load(begun.taskId, context);
  }

  async *stream(request: SendMessageRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
    const begun = await this.#begin(request, context);
    if (!begun.isOurs) return yield* streamTask(this.#watching(begun), begun.taskId, { context, until: isAnswered });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#track(promise);
    let isTold = false;
    try {
      for await (const event of this.#parts.library.sendMessageStream(begun.request, context)) yield* this.#asStored(event, begun, context);
      isTold = true;
    } finally {
      if (!isTold) await this.#giveUp(context);
      resolve();
    }
  }

  /** Resolves when nothing runs any more. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #begin(request: SendMessageRequest, context: ServerCallContext): Promise<Begun> {
    const sent = checkMessage(request);
    notePayment(context, paymentIn(sent));
    const message = withoutPayload(sent);
    const owner = ownerOf(context);
    const { claims, tasks } = this.#parts;
    const claimed = await claims.find(owner, sent);
    const before = message.taskId === '' ? undefined : await this.#followed(message, claimed === null, context);
    const plan = planFor(message, before, context);
    // Before anything is stored of it; a message that came before was counted then.
    if (claimed === null) await userOf(context).asker.countTask?.(messageUnits(message));
    const freshId = randomUUID();
    const taskId = await claims.claim(owner, sent, claimed ?? (message.taskId || freshId));
    const [isOurs, task] = await this.#orGiveUp(context, async () => {
      const isNew = await this.#takeUp({ taskId, isFresh: taskId === freshId, message, plan }, context);
      const begins = isNew || (await tasks.takeOver(taskId, message, context));
      return [begins, await this.#load(taskId, context)];
    });
    // A further message that another one was faster than is not part of the task.
    if (!isOurs && message.taskId !== '' && !hasMessage(task, message)) throw isTerminal(task) ? over(task) : taskBusy();
    return { taskId, message, request: requestOf(request, message, task), isOurs };
  }

  /** The task that a message goes on with. @throws OracleError NOT_FOUND, CONFLICT when it is over */
  async #followed({ taskId, contextId }: Message, isNew: boolean, context: ServerCallContext): Promise<Task> {
    // What the same message has left undone may be taken up: it is not to be failed before.
    const task = isNew ? await this.#load(taskId, context) : await this.#parts.tasks.peek(taskId, context);
    if (task === undefined) throw taskNotFound();
    if (isNew && isTerminal(task)) throw over(task);
    if (contextId !== '' && contextId !== task.contextId) throw otherContext();
    return task;
  }

  async #takeUp({ taskId, isFresh, message, plan }: Start, context: ServerCallContext): Promise<boolean> {
    const { tasks, now } = this.#parts;
    if (message.taskId !== '') return tasks.resume(taskId, message, context);
    // Opening it may cost the owner an older task.
    if (!isFresh && (await tasks.peek(taskId, context)) !== undefined) return false;
    const contextId = message.contextId || randomUUID();
    return tasks.open(newTask({ taskId, contextId, message, at: now(), skill: skillIn(plan) }), context);
  }

  #run(begun: Begun, context: ServerCallContext): Promise<Task> {
    return this.#track(this.#orGiveUp(context, () => this.#carryOut(begun, context)));
  }

  /** Nobody waits for it: what becomes of it is told by the task. */
  #runAlone(begun: Begun, context: ServerCallContext): void {
    const { taskId } = begun;
    this.#run(begun, context).catch((error: unknown) => this.#parts.log.error({ err: error, taskId }, 'a task could not be carried out'));
  }

  async #carryOut(begun: Begun, context: ServerCallContext): Promise<Task> {
    try {
      await this.#parts.library.sendMessage(begun.request, context);
    } catch (error) {
      // Cancelled before it began.
      const task = await this.#load(begun.taskId, context);
      if (isTerminal(task)) return task;
      throw error;
    }
    // As it is stored: another process may have ended it, or be working on it.
    return this.#wait(begun, context);
  }

  /** An event that ends the stream, as the task ended in the store: another process may have ended it before. */
  async *#asStored(event: StreamResponse, begun: Begun, context: ServerCallContext): AsyncGenerator<StreamResponse> {
    if (event.payload?.$case !== 'statusUpdate' || isActive(event.payload.value)) return yield event;
    const task = await this.#wait(begun, context);
    if (stateOf(task) === stateOf(event.payload.value)) return yield event;
    yield* changesOf(AT_WORK, task);
  }

  async #wait(begun: Begun, context: ServerCallContext): Promise<Task> {
    let last: Task | undefined;
    for await (const task of followTask(this.#watching(begun), begun.taskId, { context, until: isAnswered })) last = task;
    return last ?? this.#load(begun.taskId, context);
  }

  /** Reads a task, and carries it out here, once, when the process that worked on it has died. */
  #watching(begun: Begun): FollowParts {
    const { tasks, stopping } = this.#parts;
    let { isOurs } = begun;
    const changeOf = async (taskId: string, context: ServerCallContext) => {
      const change = await tasks.changeOf(taskId, context);
      if (change !== '' || isOurs) return change;
      isOurs = await this.#carriedOn(begun, context);
      return tasks.changeOf(taskId, context);
    };
    const load: MongoTaskStore['load'] = (taskId, context) => tasks.load(taskId, context);
    const peek: MongoTaskStore['peek'] = (taskId, context) => tasks.peek(taskId, context);
    return { tasks: { changeOf, load, peek }, stopping };
  }

  async #carriedOn(begun: Begun, context: ServerCallContext): Promise<boolean> {
    const isOurs = await this.#parts.tasks.takeOver(begun.taskId, begun.message, context);
    if (isOurs) this.#runAlone({ ...begun, isOurs }, context);
    return isOurs;
  }

  async #orGiveUp<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#giveUp(context);
      throw error;
    }
  }

  /** The same message can be taken up again at once: what broke off here is not waited for. */
  async #giveUp(context: ServerCallContext): Promise<void> {
    const { tasks, log } = this.#parts;
    await tasks.giveUp(context).catch((error: unknown) => log.warn({ err: error }, 'a task could not be given up'));
  }

  async #load(taskId: string, context: ServerCallContext): Promise<Task> {
    const task = await this.#parts.tasks.load(taskId, context);
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

const AT_WORK = { artifacts: [], status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined } };

function over(task: Task): Error {
  return taskOver(stateName(task));
}

/** Ended, or waiting for the owner's next message. */
function isAnswered(task: Task): boolean {
  return !isActive(task);
}

/** The library finds the task by the message, and waits for its end. */
function requestOf(request: SendMessageRequest, message: Message, { id, contextId }: Task): SendMessageRequest {
  const { configuration } = request;
  return {
    ...request,
    message: { ...message, taskId: id, contextId, referenceTaskIds: [] },
    configuration: configuration && { ...configuration, returnImmediately: false, historyLength: undefined },
  };
}
