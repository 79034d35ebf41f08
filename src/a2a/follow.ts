import { setTimeout as delay } from 'node:timers/promises';
import { type StreamResponse, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { userOf } from './owner.ts';
import { taskNotFound } from './refusal.ts';
import { stateOf } from './task-states.ts';
import type { MongoTaskStore } from './task-store.ts';

export interface FollowParts {
  tasks: Pick<MongoTaskStore, 'changeOf' | 'load' | 'peek'>;
  /** Aborted when the service stops: whoever waits is told how far it came. */
  stopping: AbortSignal;
}

export interface FollowOptions {
  context: ServerCallContext;
  /** Whether nothing more is waited for. */
  until(task: Task): boolean;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** A stream that nothing comes of ends after about this many questions to the store: five minutes. */
const MOST_LOOKS = 310;

/**
 * A task as it changes, whichever process works on it: first as it is, then once after each change that is seen.
 * @throws OracleError NOT_FOUND
 */
export async function* followTask(
  { tasks, stopping }: FollowParts,
  taskId: string,
  { context, until }: FollowOptions,
): AsyncGenerator<Task> {
  const signal = AbortSignal.any([stopping, userOf(context).gone].filter((one) => one !== undefined));
  let [change, seen] = ['', ''];
  for (let look = 0, pauseMs = FIRST_PAUSE_MS; look < MOST_LOOKS; look++) {
    // Before the task: what changes meanwhile is seen at the next look.
    const before = change;
    change = (await tasks.changeOf(taskId, context)) ?? '';
    if (change === '' || change !== before) {
      // What is known to be alive is not failed, though its process may die this instant.
      const task = await (change === '' ? tasks.load(taskId, context) : tasks.peek(taskId, context));
      if (task === undefined) throw taskNotFound();
      const now = JSON.stringify([task.status?.state, task.status?.timestamp, task.artifacts.length]);
      if (now !== seen) yield task;
      seen = now;
      if (until(task)) return;
    }
    if (!(await pause(pauseMs, signal))) return;
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
  }
}

/** The same as events of a stream: the task, then its new artifacts and states. */
export async function* streamTask(
  parts: FollowParts,
  taskId: string,
  options: FollowOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  let before: Task | undefined;
  for await (const task of followTask(parts, taskId, options)) {
    if (before === undefined) yield { payload: { $case: 'task', value: task } };
    else yield* changesOf(before, task);
    before = task;
  }
}

/**
 * What has come of a task since it was as before, in the order in which it came about, whatever of it fell between two looks: work
 * comes before what it makes.
 */
export function* changesOf(before: Pick<Task, 'artifacts' | 'status'>, task: Task): Generator<StreamResponse> {
  const { id: taskId, contextId, status } = task;
  const moved = before.status?.state !== status?.state || before.status?.timestamp !== status?.timestamp;
  const works = moved && stateOf(task) === TaskState.TASK_STATE_WORKING;
  const artifacts = task.artifacts.filter(({ artifactId }) => !before.artifacts.some((one) => one.artifactId === artifactId));
  if (works) yield statusUpdate(task, status);
  else if (artifacts.length > 0 && stateOf(before) !== TaskState.TASK_STATE_WORKING && before.artifacts.length === 0) {
    yield statusUpdate(task, status && { ...status, state: TaskState.TASK_STATE_WORKING, message: undefined });
  }
  for (const artifact of artifacts) {
    yield {
      payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined } },
    };
  }
  if (moved && !works) yield statusUpdate(task, status);
}

function statusUpdate({ id: taskId, contextId }: Task, status: TaskStatus | undefined): StreamResponse {
  return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } };
}

/** False when it was cut short. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
