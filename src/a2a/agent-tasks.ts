import { randomUUID } from 'node:crypto';
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { OracleError, type ToldError, toldError } from '../errors.ts';
import { checkData } from './check-message.ts';
import { type AskerOfCall, contextFor } from './owner.ts';
import { dataOf, dataPart } from './parts.ts';
import type { Sending } from './sending.ts';
import { isActive, stateOf } from './task-states.ts';
import { type MongoTaskStore, skillOf } from './task-store.ts';

/** A task as those see it who do not speak the protocol. */
export interface PlainTask {
  id: string;
  /** Empty while a text has not said which. */
  skill: string;
  outcome: { status: 'completed'; output: Record<string, unknown> } | { status: 'failed'; error: ToldError } | { status: 'working' };
}

export interface PlainRequest {
  skill: string;
  input: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

/** The same tasks for whoever asks by other means than the protocol. */
export class PlainTasks {
  readonly #sending: Sending;
  readonly #tasks: MongoTaskStore;

  constructor({ sending, tasks }: { sending: Sending; tasks: MongoTaskStore }) {
    this.#sending = sending;
    this.#tasks = tasks;
  }

  /** Carries a task out. @throws OracleError INPUT_INVALID for a request that is no task: nothing is kept of it */
  async send({ skill, input, metadata }: PlainRequest, asker: AskerOfCall): Promise<PlainTask> {
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
    return plain(await this.#sending.send(request, contextFor(asker)));
  }

  /** Null when there is none of this id for this caller. */
  async get(id: string, asker: AskerOfCall): Promise<PlainTask | null> {
    const task = await this.#tasks.load(id, contextFor(asker));
    return task === undefined ? null : plain(task);
  }
}

function plain(task: Task): PlainTask {
  return { id: task.id, skill: skillOf(task) ?? '', outcome: outcomeOf(task) };
}

function outcomeOf(task: Task): PlainTask['outcome'] {
  if (stateOf(task) === TaskState.TASK_STATE_COMPLETED) return { status: 'completed', output: dataOf(task.artifacts[0]?.parts) ?? {} };
  if (isActive(task) || stateOf(task) === TaskState.TASK_STATE_INPUT_REQUIRED) return { status: 'working' };
  return { status: 'failed', error: errorOf(task) };
}

function errorOf(task: Task): ToldError {
  const told = dataOf(task.status?.message?.parts) as ToldError | undefined;
  return told ?? toldError(new OracleError('CONFLICT', 'The task was cancelled', { suggestedAction: 'Send a new one.' }));
}
