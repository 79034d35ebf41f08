import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { A2A_VERSION } from '../../agent-card/endpoints.ts';
import type { ProtocolAdapter } from '../adapter.ts';
import type { RequestContext } from '../auth/auth.ts';
import { SharedCapacity, toCapacityClient } from '../auth/rate-limits.ts';
import { type ClientError, OracleError, toClientError } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import { createA2aAdapters, toProtocolError } from './bindings.ts';
import { type A2aContext, type DispatchOptions, MESSAGE_INDEXES, MessageClaims, TaskHandler } from './dispatcher.ts';
import { AgentUser, checkData, checkHistoryLength, checkId, dataPart, getTaskSkill, getUser, PAYMENT_METADATA } from './plan.ts';
import { getState, isTerminal, MongoTaskStore, TASK_INDEXES } from './tasks.ts';

export const A2A_INDEXES = [...TASK_INDEXES, ...MESSAGE_INDEXES] as const;

export interface A2a {
  adapters: ProtocolAdapter[];
  tasks: ReturnType<typeof createTaskService>;
  /** Resolves when no task is running. */
  drain(): Promise<void>;
}

export function createA2a(context: A2aContext, options: DispatchOptions): A2a {
  const { db, log, now, shutdown } = context;
  const { push } = options;
  const store = new MongoTaskStore(db, now, (owner, taskId) => push.deleteForTask(owner, taskId));
  const claims = new MessageClaims(db, now);
  const handler = new TaskHandler({ ...context, ...options, store, claims });
  shutdown.onStop('tasks of agents', () => handler.drain());
  return {
    adapters: createA2aAdapters(guard(handler, log)),
    tasks: createTaskService(handler, store),
    drain: () => handler.drain(),
  };
}

/** Open streams per process. Programs and pages at an address count separately. */
export const MAX_STREAMS = { perClient: 8, per56: 24, per48: 64, anonymous: 150, anonymousAndPayers: 175, overall: 200 } as const;

// biome-ignore lint/suspicious/noExplicitAny: the parameters of all operations
type Operation<Result> = (params: any, context: ServerCallContext) => Result;

/** Checks, limits and errors of every operation. */
function guard(handler: A2ARequestHandler, log: Log): A2ARequestHandler {
  /** Each open stream holds a connection and polls the database. */
  const capacity = new SharedCapacity({
    units: 'streams',
    limits: MAX_STREAMS,
    suggestedAction: 'Close a stream, or read the task with GetTask.',
    retryAfterSeconds: 30,
  });
  const toError = (error: unknown, context: ServerCallContext) => {
    if (!(error instanceof A2AError) && toClientError(toDatabaseError(error)).code === 'INTERNAL') {
      log.error({ err: error, requestId: getUser(context).requestContext.requestId }, 'an A2A request failed');
    }
    return toProtocolError(error, context);
  };
  const guardCall =
    (run: Operation<Promise<unknown>>): Operation<Promise<unknown>> =>
    async (params, context) => {
      try {
        checkHistoryLength(params.historyLength);
        // 0.3 passes them on as they were sent.
        for (const name of ['contextId', 'taskId', 'id']) if (params[name]) checkId(params[name], name);
        const answer = await run(params, context);
        await getUser(context).requestContext.reserveAnswer(Buffer.byteLength(JSON.stringify(answer) ?? ''));
        return answer;
      } catch (error) {
        throw toError(error, context);
      }
    };
  const guardStream = (run: Operation<AsyncGenerator<StreamResponse>>): Operation<AsyncGenerator<StreamResponse>> =>
    async function* (params, context) {
      let release = () => {};
      try {
        const { requestContext, rateLimitKey: key } = getUser(context);
        // With a payment, it may use the share of payers.
        const isPaying = params.message?.metadata?.[PAYMENT_METADATA.payload] !== undefined;
        release = capacity.acquire({ ...toCapacityClient(requestContext, isPaying), key });
        yield* run(params, context);
      } catch (error) {
        throw toError(error, context);
      } finally {
        release();
      }
    };
  return new Proxy(handler, {
    get(target, name: keyof A2ARequestHandler) {
      const run = target[name].bind(target) as never;
      if (name === 'getAgentCard') return run;
      return name === 'sendMessageStream' || name === 'resubscribe' ? guardStream(run) : guardCall(run);
    },
  });
}

interface TaskView {
  id: string;
  /** Empty until a text has named one. */
  skill: string;
  outcome: { status: 'completed'; output: Record<string, unknown> } | { status: 'failed'; error: ClientError } | { status: 'working' };
}

interface SkillRequest {
  skill: string;
  input: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

/** The tasks for transports other than A2A. */
function createTaskService(handler: TaskHandler, store: MongoTaskStore) {
  const toCallContext = (requestContext: RequestContext) =>
    new ServerCallContext({ user: new AgentUser(requestContext, 'jsonrpc'), requestedVersion: A2A_VERSION });
  return {
    /** @throws OracleError INPUT_INVALID before anything is stored */
    async send({ skill, input, metadata }: SkillRequest, requestContext: RequestContext): Promise<TaskView> {
      checkData({ skill, input }, 'input');
      const ids = { messageId: randomUUID(), taskId: '', contextId: '', role: Role.ROLE_USER, extensions: [], referenceTaskIds: [] };
      const message: Message = { ...ids, parts: [dataPart({ skill, input })], metadata };
      const request = { tenant: '', message, configuration: undefined, metadata };
      return toTaskView(await handler.dispatch(request, toCallContext(requestContext)));
    },
    /** Null for an unknown id and for a task of another owner. */
    async get(id: string, requestContext: RequestContext): Promise<TaskView | null> {
      const task = await store.load(id, toCallContext(requestContext));
      return task === undefined ? null : toTaskView(task);
    },
  };
}

function toTaskView(task: Task): TaskView {
  return { id: task.id, skill: getTaskSkill(task) ?? '', outcome: toTaskOutcome(task) };
}

function toTaskOutcome(task: Task): TaskView['outcome'] {
  const findData = (parts: readonly Part[] = []) => parts.find(({ content }) => content?.$case === 'data')?.content?.value;
  const state = getState(task);
  if (state === TaskState.TASK_STATE_COMPLETED) return { status: 'completed', output: findData(task.artifacts[0]?.parts) ?? {} };
  if (!isTerminal(task)) return { status: 'working' };
  const cancelled = new OracleError('CONFLICT', 'The task was cancelled', { suggestedAction: 'Send a new one.' });
  return { status: 'failed', error: findData(task.status?.message?.parts) ?? toClientError(cancelled) };
}
