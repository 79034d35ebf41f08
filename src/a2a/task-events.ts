import { setTimeout as delay } from 'node:timers/promises';
import { type Part, type StreamResponse, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { AgentEvent, type ExecutionEventBus, type RequestContext, type ServerCallContext } from '@a2a-js/sdk/server';
import type { SkillAnswer, SkillCall } from '../../skills/runner.ts';
import type { ClientError } from '../errors.ts';
import { taskNotFound } from './bindings.ts';
import type { MessagePlan } from './plan.ts';
import { buildTaskStatus, dataPart, errorParts, getUser, textPart } from './protocol.ts';
import { buildTask, getState, type MongoTaskStore } from './task-store.ts';

export interface FollowDeps {
  tasks: Pick<MongoTaskStore, 'getChangeToken' | 'load' | 'peek'>;
  /** Aborted at shutdown; followers then end with the last state. */
  stopping: AbortSignal;
}

interface FollowTaskOptions {
  context: ServerCallContext;
  until(task: Task): boolean;
}

const MIN_POLL_INTERVAL_MS = 50;
const MAX_POLL_INTERVAL_MS = 1_000;
/** Ends a stream without a final state after about five minutes. */
const MAX_POLLS = 310;

/** Yields a task as it is, then after each change, whichever process runs it. @throws OracleError NOT_FOUND */
export async function* followTask(deps: FollowDeps, taskId: string, options: FollowTaskOptions): AsyncGenerator<Task> {
  const { tasks, stopping } = deps;
  const { context, until } = options;
  const signal = AbortSignal.any([stopping, getUser(context).disconnectSignal].filter((one) => one !== undefined));
  let [change, seen] = ['', ''];
  for (let look = 0, pauseMs = MIN_POLL_INTERVAL_MS; look < MAX_POLLS; look++) {
    // The token is read before the task, so that a concurrent change is seen by the next poll.
    const before = change;
    change = (await tasks.getChangeToken(taskId, context)) ?? '';
    if (change === '' || change !== before) {
      // `peek` never fails the task: the token has just shown a live lease.
      const task = await (change === '' ? tasks.load(taskId, context) : tasks.peek(taskId, context));
      if (task === undefined) throw taskNotFound();
      const now = JSON.stringify([task.status?.state, task.status?.timestamp, task.artifacts.length]);
      if (now !== seen) yield task;
      seen = now;
      if (until(task)) return;
    }
    if (!(await delay(pauseMs, true, { signal }).catch(() => false))) return;
    pauseMs = Math.min(pauseMs * 1.5, MAX_POLL_INTERVAL_MS);
  }
}

export async function* streamTask(
  deps: FollowDeps,
  taskId: string,
  options: FollowTaskOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  let before: Task | undefined;
  for await (const task of followTask(deps, taskId, options)) {
    getUser(options.context).requestContext.detach?.();
    if (before === undefined) yield { payload: { $case: 'task', value: task } };
    else yield* diffTask(before, task);
    before = task;
  }
}

/** Events between two snapshots in causal order: WORKING precedes the artifacts that follow from it. */
export function* diffTask(before: Pick<Task, 'artifacts' | 'status'>, task: Task): Generator<StreamResponse> {
  const { id: taskId, contextId, status } = task;
  const moved = before.status?.state !== status?.state || before.status?.timestamp !== status?.timestamp;
  const works = moved && getState(task) === TaskState.TASK_STATE_WORKING;
  const artifacts = task.artifacts.filter(({ artifactId }) => !before.artifacts.some((one) => one.artifactId === artifactId));
  if (works) yield toStatusUpdate(task, status);
  else if (artifacts.length > 0 && getState(before) !== TaskState.TASK_STATE_WORKING && before.artifacts.length === 0) {
    yield toStatusUpdate(task, status && { ...status, state: TaskState.TASK_STATE_WORKING, message: undefined });
  }
  for (const artifact of artifacts) {
    const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
    yield { payload: { $case: 'artifactUpdate', value } };
  }
  if (moved && !works) yield toStatusUpdate(task, status);
}

function toStatusUpdate({ id: taskId, contextId }: Task, status: TaskStatus | undefined): StreamResponse {
  return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } };
}

interface StatusDetails {
  parts?: Part[];
  taskMetadata?: Record<string, unknown>;
  messageMetadata?: Record<string, unknown>;
}

export class TaskEventPublisher {
  readonly #deps: { taskId: string; contextId: string; bus: ExecutionEventBus; now(): Date };
  #note: Part[] = [];

  constructor(deps: { taskId: string; contextId: string; bus: ExecutionEventBus; now(): Date }) {
    this.#deps = deps;
  }

  /** Sets the text that final states include. @param note undefined for data parts */
  setNote(note: string | undefined): void {
    this.#note = note === undefined ? [] : [textPart(note)];
  }

  /** The protocol requires the task as the first event. */
  publishOpened({ task, userMessage }: RequestContext): void {
    const { taskId, contextId, bus, now } = this.#deps;
    bus.publish(AgentEvent.task(task ?? buildTask({ taskId, contextId, message: userMessage, at: now() })));
  }

  publishWorking(skill: string): void {
    this.publishStatus(TaskState.TASK_STATE_WORKING, { taskMetadata: { skill } });
  }

  publishInputRequired({ skill, parts }: MessagePlan & { do: 'ask' }): void {
    this.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, { parts, taskMetadata: skill === undefined ? undefined : { skill } });
  }

  /** @param publicPart of the answer that is withheld */
  publishRejected({ call, error }: MessagePlan & { do: 'reject' }, publicPart: Part[]): void {
    const parts = [...errorParts(error), ...publicPart, ...this.#note];
    this.publishStatus(TaskState.TASK_STATE_REJECTED, { parts, taskMetadata: { skill: call.skill.id } });
  }

  /** @param details of the payment, if there was one */
  publishFailed(error: ClientError, details: Omit<StatusDetails, 'parts'> = {}): void {
    this.publishStatus(TaskState.TASK_STATE_FAILED, { ...details, parts: [...errorParts(error), ...this.#note] });
  }

  /** @param details of the payment, if there was one */
  publishCompleted(
    { skill: { id, title } }: SkillCall,
    { output, text }: SkillAnswer,
    { tier, ...details }: StatusDetails & { tier: string },
  ): void {
    const { taskId, contextId, bus } = this.#deps;
    const artifact = {
      artifactId: id,
      name: id,
      description: title,
      parts: [dataPart(output), textPart(text)],
      metadata: { skill: id, tier },
      extensions: [],
    };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }));
    const parts = [...this.#note, ...(details.parts ?? [])];
    this.publishStatus(TaskState.TASK_STATE_COMPLETED, { ...details, parts: parts.length === 0 ? undefined : parts });
  }

  publishStatus(state: TaskState, { parts, taskMetadata, messageMetadata }: StatusDetails = {}): void {
    const { taskId, contextId, bus, now } = this.#deps;
    const status = buildTaskStatus({ taskId, contextId, state, at: now(), parts, messageMetadata });
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: taskMetadata }));
  }
}
