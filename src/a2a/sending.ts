import { randomUUID } from 'node:crypto';
import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import type { DefaultRequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { Log } from '../log.ts';
import { checkMessage } from './check-message.ts';
import { followTask, streamTask } from './follow.ts';
import type { MessageClaims } from './message-claims.ts';
import { newTask } from './new-task.ts';
import { ownerOf, userOf } from './owner.ts';
import { type Plan, planOf } from './read-call.ts';
import { otherContext, taskBusy, taskNotFound, taskOver } from './refusal.ts';
import { isActive, isTerminal, stateName } from './task-states.ts';
import { hasMessage, type MongoTaskStore, skillOf } from './task-store.ts';

export interface SendingParts {
  tasks: MongoTaskStore;
  claims: MessageClaims;
  /** The protocol's library: runs a message on a task that is there. */
  library: DefaultRequestHandler;
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

/** Where a message led. */
interface Begun {
  taskId: string;
  /** What is to be run here; null where the same message was run before, or is being run elsewhere. */
  run: SendMessageRequest | null;
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
    const { log } = this.#parts;
    const { taskId, run } = await this.#begin(request, context);
    const running = run === null ? null : this.#track(this.#run(taskId, run, context));
    if (request.configuration?.returnImmediately === true) {
      // What becomes of it is told by the task.
      running?.catch((error: unknown) => log.error({ err: error, taskId }, 'a task could not be carried out'));
      return this.#load(taskId, context);
    }
    return running ?? this.#wait(taskId, context);
  }

  async *stream(request: SendMessageRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
    const { taskId, run } = await this.#begin(request, context);
    if (run === null) return yield* streamTask(this.#parts, taskId, { context, until: (task) => !isActive(task) });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#track(promise);
    try {
      yield* this.#parts.library.sendMessageStream(run, context);
    } finally {
      resolve();
    }
  }

  /** Resolves when nothing runs any more. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #begin(request: SendMessageRequest, context: ServerCallContext): Promise<Begun> {
    const message = checkMessage(request);
    const owner = ownerOf(context);
    const { claims, tasks } = this.#parts;
    const claimed = await claims.find(owner, message);
    const before = message.taskId === '' ? undefined : await this.#followed(message, claimed === null, context);
    const plan = planOf(message, { caller: userOf(context).asker.caller, skill: before && skillOf(before) });
    const taskId = await claims.claim(owner, message, claimed ?? (message.taskId || randomUUID()));
    const begins = (await this.#takeUp(taskId, message, plan, context)) || (await tasks.takeOver(taskId, message, context));
    const task = await this.#load(taskId, context);
    if (begins) return { taskId, run: runOf(request, message, task) };
    // A message that another one was faster than is not part of the task.
    if (!hasMessage(task, message)) throw isTerminal(task) ? over(task) : taskBusy();
    return { taskId, run: null };
  }

  /** The task that a message goes on with. @throws OracleError NOT_FOUND, CONFLICT when it is over */
  async #followed({ taskId, contextId }: Message, isNew: boolean, context: ServerCallContext): Promise<Task> {
    const task = await this.#load(taskId, context);
    if (isNew && isTerminal(task)) throw over(task);
    if (contextId !== '' && contextId !== task.contextId) throw otherContext();
    return task;
  }

  #takeUp(taskId: string, message: Message, plan: Plan, context: ServerCallContext): Promise<boolean> {
    const { tasks, now } = this.#parts;
    if (message.taskId !== '') return tasks.resume(taskId, message, context);
    const contextId = message.contextId || randomUUID();
    const skill = plan.do === 'call' ? plan.call.skill.id : plan.skill;
    return tasks.open(newTask({ taskId, contextId, message, at: now(), skill }), context);
  }

  async #run(taskId: string, request: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    try {
      await this.#parts.library.sendMessage(request, context);
    } catch (error) {
      // Cancelled before it began.
      const task = await this.#load(taskId, context);
      if (isTerminal(task)) return task;
      throw error;
    }
    // As it is stored: another process may have ended it.
    return this.#load(taskId, context);
  }

  async #wait(taskId: string, context: ServerCallContext): Promise<Task> {
    let last: Task | undefined;
    for await (const task of followTask(this.#parts, taskId, { context, until: (one) => !isActive(one) })) last = task;
    return last ?? this.#load(taskId, context);
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

function over(task: Task): Error {
  return taskOver(stateName(task));
}

/** The library finds the task by the message, and waits for its end. */
function runOf(request: SendMessageRequest, message: Message, { id, contextId }: Task): SendMessageRequest {
  const { configuration } = request;
  return {
    ...request,
    message: { ...message, taskId: id, contextId, referenceTaskIds: [] },
    configuration: configuration && { ...configuration, returnImmediately: false, historyLength: undefined },
  };
}
