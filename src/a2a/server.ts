import { randomUUID } from 'node:crypto';
import type * as a2a from '@a2a-js/sdk';
import { type AgentCard, type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import {
  type A2ARequestHandler,
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  type ExecutionEventBus,
  ServerCallContext,
  type RequestContext as TaskContext,
} from '@a2a-js/sdk/server';
import type { Db } from 'mongodb';
import { A2A_LEGACY_VERSION } from '../../agent-card/endpoints.ts';
import { type PaidCalls, preparePublicCall, type RunSkill, type SkillCall } from '../../skills/runner.ts';
import type { ProtocolAdapter } from '../adapter.ts';
import type { RequestContext } from '../auth/auth.ts';
import { SharedCapacity, toCapacityClient } from '../auth/rate-limits.ts';
import { type ClientError, isOracleError, OracleError, toClientError } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import { createA2aAdapters, ProtocolRejection, taskNotFound, toProtocolError } from './bindings.ts';
import { MESSAGE_INDEXES, MessageClaims, MessageDispatcher } from './dispatcher.ts';
import { TaskPayments } from './payments.ts';
import { checkData, checkHistoryLength, checkId, parseMessage, planMessage } from './plan.ts';
import {
  type A2aRequestContext,
  AgentUser,
  dataPart,
  getOwner,
  getRateLimitKey,
  getUser,
  PAYMENT_METADATA,
  runUnit,
  textPart,
} from './protocol.ts';
import type { TaskPush } from './push.ts';
import { streamTask, TaskEventPublisher } from './task-events.ts';
import { getState, getStateName, getTaskSkill, isActive, isTerminal, MongoTaskStore, TASK_INDEXES } from './task-store.ts';

export const A2A_INDEXES = [...TASK_INDEXES, ...MESSAGE_INDEXES] as const;

interface A2aDeps {
  db: Db;
  card: AgentCard;
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  /** Public part of gated answers, as the caller may see it; unset: a call outside the tier is rejected without one. */
  push: TaskPush;
  /** Scenarios of the test kit (TCK); unset in production. */
  fixtures?: { play: NonNullable<ExecutorDeps['playFixture']>; isFixture: NonNullable<HandlerDeps['isFixture']> };
  stopping: AbortSignal;
  log: Log;
  now(): Date;
}

interface ExecutorDeps {
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  /** Plays a scenario of the test kit; true if it has answered. */
  playFixture?: (context: TaskContext, bus: ExecutionEventBus) => Promise<boolean>;
  log: Log;
  now(): Date;
}

export interface A2a {
  adapters: ProtocolAdapter[];
  /** The tasks for transports other than A2A. */
  tasks: TaskService;
  purge(now: Date): Promise<void>;
  /** Resolves when no task is running. */
  drain(): Promise<void>;
}

/** The executor of the SDK: runs the call of a message and publishes the task's events. Never throws. */
class SkillExecutor {
  readonly #deps: ExecutorDeps;
  /** Context ids of running tasks, by task id. */
  readonly #runningContexts = new Map<string, string>();

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  async execute(context: TaskContext, bus: ExecutionEventBus): Promise<void> {
    if ((await this.#deps.playFixture?.(context, bus)) === true) return;
    const { taskId, contextId } = context;
    this.#runningContexts.set(taskId, contextId);
    const publisher = new TaskEventPublisher({ taskId, contextId, bus, now: this.#deps.now });
    try {
      await runUnit(context.context, () => this.#runPlan(context, publisher));
    } catch (error) {
      this.#logInternalError(error, context);
      publisher.publishFailed(toClientError(error));
    } finally {
      this.#runningContexts.delete(taskId);
    }
  }

  /** Ends the stream; later output of the skill is discarded. */
  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const contextId = this.#runningContexts.get(taskId) ?? '';
    const publisher = new TaskEventPublisher({ taskId, contextId, bus, now: this.#deps.now });
    publisher.publishStatus(TaskState.TASK_STATE_CANCELED, { parts: [textPart('Cancelled by the client.')] });
  }

  async #runPlan(context: TaskContext, publisher: TaskEventPublisher): Promise<void> {
    const user = getUser(context.context);
    publisher.publishOpened(context);
    const plan = planMessage(context.userMessage, context.task, context.context);
    if (plan.do === 'ask') return publisher.publishInputRequired(plan);
    if (plan.do !== 'decline') publisher.setNote(plan.note);
    const requestContext = toFullContext(user.requestContext);
    if (plan.do === 'reject') return publisher.publishRejected(plan, await this.#readPublicPart(plan.call, requestContext));
    if (plan.do !== 'call') {
      const payments = new TaskPayments({ paidCalls: this.#deps.paidCalls, publisher, task: context.task });
      if (plan.do === 'bill') return payments.requestPayment(plan, await this.#readPublicPart(plan.call, requestContext));
      if (plan.do === 'decline') return payments.decline();
      return payments.sell(plan, {
        requestContext,
        owner: requestContext.caller.wallet === undefined ? requestContext.address : user.userName,
        onFailure: (error) => this.#logInternalError(error, context),
      });
    }
    publisher.publishWorking(plan.call.skill.id);
    const answer = await this.#deps.runSkill(plan.call, requestContext);
    publisher.publishCompleted(plan.call, answer, { tier: requestContext.caller.tier });
  }

  /** What the caller may know of an answer outside its tier, as text and as data; empty where it cannot be read, e.g. before the first forecast. */
  async #readPublicPart(call: SkillCall, requestContext: RequestContext): Promise<Part[]> {
    const open = preparePublicCall(call);
    if (open === null) return [];
    try {
      const { text, output } = await this.#deps.runSkill(open, requestContext);
      return [textPart(text), dataPart(output)];
    } catch (error) {
      if (isOracleError(error)) return [];
      throw error;
    }
  }

  /** Internal errors are logged here, because the client receives none of their text. */
  #logInternalError(error: unknown, { taskId, context }: TaskContext): void {
    if (toClientError(error).code !== 'INTERNAL') return;
    this.#deps.log.error({ err: error, taskId, requestId: getUser(context).requestContext.requestId }, 'a task failed');
  }
}

/** Calls without an HTTP connection are admitted and metered where they entered. */
function toFullContext(requestContext: A2aRequestContext): RequestContext {
  const count = async () => undefined;
  const counters = { countCall: count, countChainCall: count, countTask: count, countRejectedPayment: count };
  const room = { requirePaymentRoom: () => undefined, hasPaymentRoom: () => true, reserveAnswer: count, beginPayment: () => undefined };
  const suspend: RequestContext['suspend'] = (waiting) => waiting();
  const run: RequestContext['run'] = async (unit) => unit();
  return { requestId: 'none', ...counters, ...room, run, suspend, detach: () => undefined, ...requestContext } as RequestContext;
}

export function createA2a({ db, card, runSkill, paidCalls, push, fixtures, stopping, log, now }: A2aDeps): A2a {
  const tasks = new MongoTaskStore(db, now, ({ owner, _id }) => push.deleteForTask(owner, _id));
  const claims = new MessageClaims(db, now);
  const executor = new SkillExecutor({ runSkill, paidCalls, playFixture: fixtures?.play, log, now });
  const buses = new DefaultExecutionEventBusManager(getOwner);
  // A task in INPUT_REQUIRED keeps no event bus in memory, so any process can continue it.
  const options = { keepBusAliveStates: [] };
  const sdkHandler = new DefaultRequestHandler(card, tasks, executor, buses, push.store, push.sender, undefined, undefined, options);
  const dispatcher = new MessageDispatcher({ tasks, claims, sdkHandler, stopping, log, now });
  const handler = new AgentRequestHandler({ tasks, dispatcher, push, sdkHandler, isFixture: fixtures?.isFixture, stopping, log });
  return {
    adapters: createA2aAdapters(handler),
    tasks: new TaskService(dispatcher, tasks),
    async purge(expiredAt) {
      await Promise.all([tasks.purge(expiredAt), claims.purge(expiredAt), push.purge(expiredAt)]);
    },
    drain: () => dispatcher.drain(),
  };
}

interface HandlerDeps {
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
class AgentRequestHandler implements A2ARequestHandler {
  readonly #deps: HandlerDeps;
  /** Each open stream holds a connection and polls the database. */
  readonly #streamCapacity = new SharedCapacity({
    units: 'streams',
    limits: MAX_STREAMS,
    suggestedAction: 'Close a stream, or read the task with GetTask.',
    retryAfterSeconds: 30,
  });

  constructor(deps: HandlerDeps) {
    this.#deps = deps;
  }

  getAgentCard(): Promise<a2a.AgentCard> {
    return this.#deps.sdkHandler.getAgentCard();
  }

  getAuthenticatedExtendedAgentCard(_request: unknown, context: ServerCallContext): Promise<a2a.AgentCard> {
    return this.#withProtocolErrors(context, async () => {
      const suggestedAction = 'Read the public card at /.well-known/agent-card.json.';
      throw new ProtocolRejection('UnsupportedOperationError', 'There is no extended agent card', { suggestedAction });
    });
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
      if (isTerminal(task)) {
        const options = { field: 'id', suggestedAction: 'Read the task with GetTask.' };
        throw new ProtocolRejection('TaskNotCancelableError', `The task has ended: ${getStateName(task)}`, options);
      }
      return this.#deps.sdkHandler.cancelTask(request, context);
    });
  }

  /** Works for a task that another process runs. */
  resubscribe({ id }: a2a.SubscribeToTaskRequest, context: ServerCallContext): AsyncGenerator<a2a.StreamResponse, void, undefined> {
    return this.#streamWithProtocolErrors({ context }, async () => {
      const task = await this.#loadOwnTask(id, context);
      if (isTerminal(task)) {
        const options = { field: 'id', suggestedAction: 'Read the task with GetTask: it has no more events.' };
        throw new ProtocolRejection('UnsupportedOperationError', `The task has ended: ${getStateName(task)}`, options);
      }
      // In 0.3 an interrupted task has ended its stream: the event is `final`. 1.0 follows it on, to the bound of `followTask`.
      const isLegacy = context.requestedVersion === A2A_LEGACY_VERSION;
      return streamTask(this.#deps, id, { context, until: isLegacy ? (one) => !isActive(one) : isTerminal });
    });
  }

  createTaskPushNotificationConfig(config: a2a.TaskPushNotificationConfig, context: ServerCallContext) {
    return this.#withProtocolErrors(context, async () => {
      await this.#loadOwnTask(config.taskId, context);
      await this.#checkPush(config, config.taskId, context);
      return this.#deps.sdkHandler.createTaskPushNotificationConfig(config, context);
    });
  }

  getTaskPushNotificationConfig(request: a2a.GetTaskPushNotificationConfigRequest, context: ServerCallContext) {
    // 0.3 names a configuration without an id by its task.
    const id = request.id || request.taskId;
    return this.#withOwnTask(request, context, async () => {
      const found = (await this.#listCallbacks(request.taskId, context)).find((config) => config.id === id);
      if (found !== undefined) return found;
      const suggestedAction = 'ListTaskPushNotificationConfigs lists the callbacks of the task.';
      throw new OracleError('NOT_FOUND', 'Callback not found', { field: 'id', suggestedAction });
    });
  }

  listTaskPushNotificationConfigs(request: a2a.ListTaskPushNotificationConfigsRequest, context: ServerCallContext) {
    const list = async () => ({ configs: await this.#listCallbacks(request.taskId, context), nextPageToken: '' });
    return this.#withOwnTask(request, context, list);
  }

  deleteTaskPushNotificationConfig(request: a2a.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext): Promise<void> {
    return this.#withOwnTask(request, context, () => this.#deps.sdkHandler.deleteTaskPushNotificationConfig(request, context));
  }

  /** Secrets are redacted: other clients may share the address or the token of the one that registered them. */
  async #listCallbacks(taskId: string, context: ServerCallContext): Promise<a2a.TaskPushNotificationConfig[]> {
    return (await this.#deps.push.store.load(taskId, context)).map((config) => {
      const { authentication } = config;
      return { ...config, token: '', authentication: authentication && { ...authentication, credentials: '' } };
    });
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
      // With a payment, it may use the share of payers.
      const isPaying = message?.metadata?.[PAYMENT_METADATA.payload] !== undefined;
      const client = toCapacityClient(getUser(context).requestContext, isPaying);
      release = this.#streamCapacity.acquire({ ...client, key: getRateLimitKey(context) });
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

/** Open streams per process. Programs and pages at an address count separately. */
export const MAX_STREAMS = { perClient: 8, per56: 24, per48: 64, anonymous: 150, anonymousAndPayers: 175, overall: 200 } as const;

interface TaskView {
  id: string;
  /** Empty until a text has named one. */
  skill: string;
  outcome: { status: 'completed'; output: Record<string, unknown> } | { status: 'failed'; error: ClientError } | { status: 'working' };
}

class TaskService {
  readonly #dispatcher: MessageDispatcher;
  readonly #tasks: MongoTaskStore;

  constructor(dispatcher: MessageDispatcher, tasks: MongoTaskStore) {
    this.#dispatcher = dispatcher;
    this.#tasks = tasks;
  }

  /** @throws OracleError INPUT_INVALID before anything is stored */
  async send(
    { skill, input, metadata }: { skill: string; input: Record<string, unknown>; metadata?: Record<string, unknown> },
    requestContext: A2aRequestContext,
  ): Promise<TaskView> {
    checkData({ skill, input }, 'input');
    const message: Message = {
      messageId: randomUUID(),
      taskId: '',
      contextId: '',
      role: Role.ROLE_USER,
      parts: [dataPart({ skill, input })],
      metadata,
      extensions: [],
      referenceTaskIds: [],
    };
    const request = { tenant: '', message, configuration: undefined, metadata };
    return toTaskView(await this.#dispatcher.send(request, createPlainCallContext(requestContext)));
  }

  /** Null for an unknown id and for a task of another owner. */
  async get(id: string, requestContext: A2aRequestContext): Promise<TaskView | null> {
    const task = await this.#tasks.load(id, createPlainCallContext(requestContext));
    return task === undefined ? null : toTaskView(task);
  }
}

/** Call context of a request that did not use A2A. */
export function createPlainCallContext(requestContext: A2aRequestContext): ServerCallContext {
  return new ServerCallContext({ user: new AgentUser(requestContext, 'jsonrpc'), requestedVersion: '1.0' });
}

function toTaskView(task: Task): TaskView {
  return { id: task.id, skill: getTaskSkill(task) ?? '', outcome: toTaskOutcome(task) };
}

function toTaskOutcome(task: Task): TaskView['outcome'] {
  if (getState(task) === TaskState.TASK_STATE_COMPLETED) return { status: 'completed', output: findData(task.artifacts[0]?.parts) ?? {} };
  if (isActive(task) || getState(task) === TaskState.TASK_STATE_INPUT_REQUIRED) return { status: 'working' };
  const error = findData(task.status?.message?.parts) as ClientError | undefined;
  const cancelled = new OracleError('CONFLICT', 'The task was cancelled', { suggestedAction: 'Send a new one.' });
  return { status: 'failed', error: error ?? toClientError(cancelled) };
}

function findData(parts: readonly Part[] | undefined): Record<string, unknown> | undefined {
  const content = parts?.find((part) => part.content?.$case === 'data')?.content;
  return content?.$case === 'data' ? content.value : undefined;
}
