import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, DefaultRequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { toldError } from '../errors.ts';
import type { Log } from '../log.ts';
import { checkHistoryLength, checkId, checkMessage } from './check-message.ts';
import { streamTask } from './follow.ts';
import { OpenStreams } from './open-streams.ts';
import { userOf } from './owner.ts';
import { ownError, protocolError } from './protocol-error.ts';
import type { TaskPush } from './push/push.ts';
import { withoutSecrets } from './push/without-secrets.ts';
import { callbackNotFound, noExtendedCard, nothingToFollow, taskNotCancelable, taskNotFound } from './refusal.ts';
import type { Sending } from './sending.ts';
import { isActive, isTerminal, stateName } from './task-states.ts';
import type { MongoTaskStore } from './task-store.ts';

export interface HandlerParts {
  tasks: MongoTaskStore;
  sending: Sending;
  push: Pick<TaskPush, 'check' | 'store'>;
  library: DefaultRequestHandler;
  /** Whether a message is one of a test kit's own; those are answered without being kept apart. Unset: none is. */
  isFixture?: (messageId: string) => boolean;
  stopping: AbortSignal;
  log: Log;
}

/** What agents ask over A2A, whichever binding and version: bounds, scope and errors are the service's own, the rest is the library's. */
export class AgentRequestHandler implements A2ARequestHandler {
  readonly #parts: HandlerParts;
  readonly #streams = new OpenStreams();

  constructor(parts: HandlerParts) {
    this.#parts = parts;
  }

  getAgentCard(): Promise<AgentCard> {
    return this.#parts.library.getAgentCard();
  }

  getAuthenticatedExtendedAgentCard(_request: unknown, context: ServerCallContext): Promise<AgentCard> {
    return this.#told(context, () => Promise.reject(noExtendedCard()));
  }

  sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    return this.#told(context, async () => {
      await this.#checkPush(request.configuration?.taskPushNotificationConfig, request.message?.taskId ?? '', context);
      if (this.#isFixture(request)) return this.#parts.library.sendMessage({ ...request, message: checkMessage(request) }, context);
      return this.#shown(await this.#parts.sending.send(request, context), request.configuration?.historyLength);
    });
  }

  sendMessageStream(request: SendMessageRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#toldStream({ context, message: request.message }, async () => {
      await this.#checkPush(request.configuration?.taskPushNotificationConfig, request.message?.taskId ?? '', context);
      if (this.#isFixture(request)) return this.#parts.library.sendMessageStream({ ...request, message: checkMessage(request) }, context);
      return this.#parts.sending.stream(request, context);
    });
  }

  getTask({ id, historyLength }: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    return this.#told(context, async () => {
      checkHistoryLength(historyLength);
      return this.#shown(await this.#own(id, context), historyLength);
    });
  }

  listTasks(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return this.#told(context, () => {
      checkHistoryLength(request.historyLength);
      if (request.contextId !== '') checkId(request.contextId, 'contextId');
      return this.#parts.library.listTasks(request, context);
    });
  }

  cancelTask(request: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    return this.#told(context, async () => {
      const task = await this.#own(request.id, context);
      if (isTerminal(task)) throw taskNotCancelable(stateName(task));
      return this.#parts.library.cancelTask(request, context);
    });
  }

  /** Follows a task that another process works on as well. */
  resubscribe({ id }: SubscribeToTaskRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#toldStream({ context }, async () => {
      const task = await this.#own(id, context);
      if (isTerminal(task)) throw nothingToFollow(stateName(task));
      // A stream also ends when its task waits for input: it would hold a connection for as long as the caller likes.
      return streamTask(this.#parts, id, { context, until: (one) => !isActive(one) });
    });
  }

  createTaskPushNotificationConfig(config: TaskPushNotificationConfig, context: ServerCallContext): Promise<TaskPushNotificationConfig> {
    return this.#told(context, async () => {
      await this.#own(config.taskId, context);
      await this.#checkPush(config, config.taskId, context);
      return this.#parts.library.createTaskPushNotificationConfig(config, context);
    });
  }

  getTaskPushNotificationConfig(
    request: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    // Protocol 0.3 names the one that was registered without an id by its task.
    const id = request.id || request.taskId;
    return this.#ofTask(request, context, async () => {
      const found = (await this.#callbacks(request.taskId, context)).find((config) => config.id === id);
      if (found === undefined) throw callbackNotFound();
      return found;
    });
  }

  listTaskPushNotificationConfigs(
    request: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#ofTask(request, context, async () => ({
      configs: await this.#callbacks(request.taskId, context),
      nextPageToken: '',
    }));
  }

  deleteTaskPushNotificationConfig(request: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext): Promise<void> {
    return this.#ofTask(request, context, () => this.#parts.library.deleteTaskPushNotificationConfig(request, context));
  }

  /** Without their secrets: who registered them knows them, and nobody else shall, be it somebody who shares an address or a token. */
  async #callbacks(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    return (await this.#parts.push.store.load(taskId, context)).map(withoutSecrets);
  }

  #ofTask<T>({ taskId }: { taskId: string }, context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    return this.#told(context, async () => {
      await this.#own(taskId, context);
      return work();
    });
  }

  async #own(id: string, context: ServerCallContext): Promise<Task> {
    checkId(id, 'id');
    const task = await this.#parts.tasks.load(id, context);
    if (task === undefined) throw taskNotFound();
    return task;
  }

  async #checkPush(config: TaskPushNotificationConfig | undefined, taskId: string, context: ServerCallContext): Promise<void> {
    if (config !== undefined) await this.#parts.push.check({ ...config, taskId }, context);
  }

  #isFixture({ message }: SendMessageRequest): boolean {
    return message !== undefined && this.#parts.isFixture?.(message.messageId) === true;
  }

  #shown(task: Task, historyLength: number | undefined): Task {
    if (historyLength === undefined) return task;
    return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
  }

  async #told<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#inWords(error, context);
    }
  }

  async *#toldStream(
    { context, message }: { context: ServerCallContext; message?: SendMessageRequest['message'] },
    open: () => Promise<AsyncGenerator<StreamResponse, void, undefined>>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    let end = () => {};
    try {
      end = this.#streams.begin(context, message);
      yield* await open();
    } catch (error) {
      throw this.#inWords(error, context);
    } finally {
      end();
    }
  }

  #inWords(error: unknown, context: ServerCallContext): Error {
    if (toldError(ownError(error)).code === 'INTERNAL') {
      this.#parts.log.error({ err: error, requestId: userOf(context).asker.requestId }, 'an A2A request failed');
    }
    return protocolError(error, context);
  }
}
