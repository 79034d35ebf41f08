import { randomUUID } from 'node:crypto';
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { type ClientError, OracleError, toClientError } from '../../platform/errors.ts';
import { type A2aRequestContext, createPlainCallContext } from './agent-user.ts';
import type { MessageDispatcher } from './messages/dispatcher.ts';
import { checkData } from './messages/parse-message.ts';
import { dataPart, findData } from './messages/parts.ts';
import { getState, isActive } from './tasks/states.ts';
import { getTaskSkill, type MongoTaskStore } from './tasks/store.ts';

export interface TaskView {
  id: string;
  /** Empty until a text has named one. */
  skill: string;
  outcome: { status: 'completed'; output: Record<string, unknown> } | { status: 'failed'; error: ClientError } | { status: 'working' };
}

export interface TaskRequest {
  skill: string;
  input: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

export class TaskService {
  readonly #dispatcher: MessageDispatcher;
  readonly #tasks: MongoTaskStore;

  constructor(dispatcher: MessageDispatcher, tasks: MongoTaskStore) {
    this.#dispatcher = dispatcher;
    this.#tasks = tasks;
  }

  /** @throws OracleError INPUT_INVALID before anything is stored */
  async send({ skill, input, metadata }: TaskRequest, requestContext: A2aRequestContext): Promise<TaskView> {
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

function toTaskView(task: Task): TaskView {
  return { id: task.id, skill: getTaskSkill(task) ?? '', outcome: toTaskOutcome(task) };
}

function toTaskOutcome(task: Task): TaskView['outcome'] {
  if (getState(task) === TaskState.TASK_STATE_COMPLETED) return { status: 'completed', output: findData(task.artifacts[0]?.parts) ?? {} };
  if (isActive(task) || getState(task) === TaskState.TASK_STATE_INPUT_REQUIRED) return { status: 'working' };
  return { status: 'failed', error: getTaskError(task) };
}

function getTaskError(task: Task): ClientError {
  const clientError = findData(task.status?.message?.parts) as ClientError | undefined;
  return clientError ?? toClientError(new OracleError('CONFLICT', 'The task was cancelled', { suggestedAction: 'Send a new one.' }));
}
