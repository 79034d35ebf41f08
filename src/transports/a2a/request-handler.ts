import type * as a2a from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, DefaultRequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { toClientError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { toDatabaseError } from '../../platform/mongo.ts';
import { getUser } from './agent-user.ts';
import { toProtocolError } from './errors/protocol-error.ts';
import { callbackNotFound, noExtendedCard, nothingToFollow, taskNotCancelable, taskNotFound } from './errors/rejections.ts';
import type { MessageDispatcher } from './messages/dispatcher.ts';
import { checkHistoryLength, checkId, parseMessage } from './messages/parse-message.ts';
import type { TaskPush } from './push/task-push.ts';
import { StreamCapacity } from './stream-capacity.ts';
import { streamTask } from './tasks/follow.ts';
import { getStateName, isActive, isTerminal } from './tasks/states.ts';
import type { MongoTaskStore } from './tasks/store.ts';

export interface HandlerDeps {
  tasks: MongoTaskStore;
  dispatcher: MessageDispatcher;
  push: Pick<TaskPush, 'check' | 'store'>;
  sdkHandler: DefaultRequestHandler;
  /** Whether a message belongs to the test kit; those bypass deduplication. */
  isFixture?: (messageId: string) => boolean;
  stopping: AbortSignal;
  log: Log;
}

/** A2A operations for both bindings and versions. Limits, ownership and errors are ours; the SDK does the rest. */
export class AgentRequestHandler implements A2ARequestHandler {
  readonly #deps: HandlerDeps;
  readonly #streamCapacity = new StreamCapacity();

  constructor(deps: HandlerDeps) {
    this.#deps = deps;
  }

  getAgentCard(): Promise<a2a.AgentCard> {
    return this.#deps.sdkHandler.getAgentCard();
  }

  getAuthenticatedExtendedAgentCard(_request: unknown, context: ServerCallContext): Promise<a2a.AgentCard> {
    return this.#withProtocolErrors(context, () => Promise.reject(noExtendedCard()));
  }

  sendMessage(request: a2a.SendMessageRequest, context: ServerCallContext): Promise<a2a.Message | a2a.Task> {
    return this.#withProtocolErrors(context, async () => {
      await this.#checkPush(request.configuration?.taskPushNotificationConfig, request.message?.taskId ?? '', context);
      if (this.#isFixture(request)) return this.#deps.sdkHandler.sendMessage({ ...request, message: parseMessage(request) }, context);
      return this.#trimHistory(await this.#deps.dispatcher.send(request, context), request.configuration?.historyLength);
    });
  }

  sendMessageStream(request: a2a.SendMessageRequest, context: ServerCallContext): AsyncGenerator<a2a.StreamResponse, void, undefined> {
    return this.#streamWithProtocolErrors({ context, message: request.message }, async () => {
      await this.#checkPush(request.configuration?.taskPushNotificationConfig, request.message?.taskId ?? '', context);
      if (this.#isFixture(request)) return this.#deps.sdkHandler.sendMessageStream({ ...request, message: parseMessage(request) }, context);
      return this.#deps.dispatcher.stream(request, context);
    });
  }

  getTask({ id, historyLength }: a2a.GetTaskRequest, context: ServerCallContext): Promise<a2a.Task> {
    return this.#withProtocolErrors(context, async () => {
      checkHistoryLength(historyLength);
      return this.#trimHistory(await this.#loadOwnTask(id, context), historyLength);
    });
  }

  listTasks(request: a2a.ListTasksRequest, context: ServerCallContext): Promise<a2a.ListTasksResponse> {
    return this.#withProtocolErrors(context, () => {
      checkHistoryLength(request.historyLength);
      if (request.contextId !== '') checkId(request.contextId, 'contextId');
      return this.#deps.sdkHandler.listTasks(request, context);
    });
  }

  cancelTask(request: a2a.CancelTaskRequest, context: ServerCallContext): Promise<a2a.Task> {
    return this.#withProtocolErrors(context, async () => {
      const task = await this.#loadOwnTask(request.id, context);
      if (isTerminal(task)) throw taskNotCancelable(getStateName(task));
      return this.#deps.sdkHandler.cancelTask(request, context);
    });
  }

  /** Works for a task that another process runs. */
  resubscribe({ id }: a2a.SubscribeToTaskRequest, context: ServerCallContext): AsyncGenerator<a2a.StreamResponse, void, undefined> {
    return this.#streamWithProtocolErrors({ context }, async () => {
      const task = await this.#loadOwnTask(id, context);
      if (isTerminal(task)) throw nothingToFollow(getStateName(task));
      // The stream ends in INPUT_REQUIRED too, which could last as long as the client likes.
      return streamTask(this.#deps, id, { context, until: (one) => !isActive(one) });
    });
  }

  createTaskPushNotificationConfig(
    config: a2a.TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<a2a.TaskPushNotificationConfig> {
    return this.#withProtocolErrors(context, async () => {
      await this.#loadOwnTask(config.taskId, context);
      await this.#checkPush(config, config.taskId, context);
      return this.#deps.sdkHandler.createTaskPushNotificationConfig(config, context);
    });
  }

  getTaskPushNotificationConfig(
    request: a2a.GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<a2a.TaskPushNotificationConfig> {
    // 0.3 names a configuration without an id by its task.
    const id = request.id || request.taskId;
    return this.#withOwnTask(request, context, async () => {
      const found = (await this.#listCallbacks(request.taskId, context)).find((config) => config.id === id);
      if (found === undefined) throw callbackNotFound();
      return found;
    });
  }

  listTaskPushNotificationConfigs(
    request: a2a.ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<a2a.ListTaskPushNotificationConfigsResponse> {
    return this.#withOwnTask(request, context, async () => ({
      configs: await this.#listCallbacks(request.taskId, context),
      nextPageToken: '',
    }));
  }

  deleteTaskPushNotificationConfig(request: a2a.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext): Promise<void> {
    return this.#withOwnTask(request, context, () => this.#deps.sdkHandler.deleteTaskPushNotificationConfig(request, context));
  }

  /** Secrets are redacted: other clients may share the address or the token of the one that registered them. */
  async #listCallbacks(taskId: string, context: ServerCallContext): Promise<a2a.TaskPushNotificationConfig[]> {
    return (await this.#deps.push.store.load(taskId, context)).map(redactSecrets);
  }

  #withOwnTask<T>({ taskId }: { taskId: string }, context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    return this.#withProtocolErrors(context, async () => {
      await this.#loadOwnTask(taskId, context);
      return work();
    });
  }

  async #loadOwnTask(id: string, context: ServerCallContext): Promise<a2a.Task> {
    checkId(id, 'id');
    const task = await this.#deps.tasks.load(id, context);
    if (task === undefined) throw taskNotFound();
    return task;
  }

  async #checkPush(config: a2a.TaskPushNotificationConfig | undefined, taskId: string, context: ServerCallContext): Promise<void> {
    if (config === undefined) return;
    const check = () => this.#deps.push.check({ ...config, taskId }, context);
    // Waits for the name servers of a host that the client names.
    const { suspend } = getUser(context).requestContext;
    await (suspend === undefined ? check() : suspend(check));
  }

  #isFixture({ message }: a2a.SendMessageRequest): boolean {
    return message !== undefined && this.#deps.isFixture?.(message.messageId) === true;
  }

  #trimHistory(task: a2a.Task, historyLength: number | undefined): a2a.Task {
    if (historyLength === undefined) return task;
    return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
  }

  async #withProtocolErrors<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      await getUser(context).requestContext.reserveAnswer?.(Buffer.byteLength(JSON.stringify(answer) ?? ''));
      return answer;
    } catch (error) {
      throw this.#toProtocolError(error, context);
    }
  }

  async *#streamWithProtocolErrors(
    { context, message }: { context: ServerCallContext; message?: a2a.SendMessageRequest['message'] },
    open: () => Promise<AsyncGenerator<a2a.StreamResponse, void, undefined>>,
  ): AsyncGenerator<a2a.StreamResponse, void, undefined> {
    let release = () => {};
    try {
      release = this.#streamCapacity.acquire(context, message);
      yield* await open();
    } catch (error) {
      throw this.#toProtocolError(error, context);
    } finally {
      release();
    }
  }

  #toProtocolError(error: unknown, context: ServerCallContext): Error {
    if (!(error instanceof A2AError) && toClientError(toDatabaseError(error)).code === 'INTERNAL') {
      this.#deps.log.error({ err: error, requestId: getUser(context).requestContext.requestId }, 'an A2A request failed');
    }
    return toProtocolError(error, context);
  }
}

function redactSecrets(config: a2a.TaskPushNotificationConfig): a2a.TaskPushNotificationConfig {
  const { authentication } = config;
  return { ...config, token: '', authentication: authentication && { ...authentication, credentials: '' } };
}
