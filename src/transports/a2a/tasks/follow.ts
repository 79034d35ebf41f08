import { setTimeout as delay } from 'node:timers/promises';
import { type StreamResponse, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { getUser } from '../agent-user.ts';
import { taskNotFound } from '../errors/rejections.ts';
import { getState } from './states.ts';
import type { MongoTaskStore } from './store.ts';

export interface FollowDeps {
  tasks: Pick<MongoTaskStore, 'getChangeToken' | 'load' | 'peek'>;
  /** Aborted at shutdown; followers then end with the last state. */
  stopping: AbortSignal;
}

export interface FollowTaskOptions {
  context: ServerCallContext;
  until(task: Task): boolean;
}

const MIN_POLL_INTERVAL_MS = 50;
const MAX_POLL_INTERVAL_MS = 1_000;
/** Ends a stream without a final state after about five minutes. */
const MAX_POLLS = 310;

/** Yields a task as it is, then after each change, whichever process runs it. @throws OracleError NOT_FOUND */
export async function* followTask(
  { tasks, stopping }: FollowDeps,
  taskId: string,
  { context, until }: FollowTaskOptions,
): AsyncGenerator<Task> {
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
    if (!(await waitUnlessAborted(pauseMs, signal))) return;
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
    yield {
      payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined } },
    };
  }
  if (moved && !works) yield toStatusUpdate(task, status);
}

function toStatusUpdate({ id: taskId, contextId }: Task, status: TaskStatus | undefined): StreamResponse {
  return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } };
}

/** False if the wait was aborted. */
function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal }).catch(() => false);
}
