import { setTimeout as delay } from 'node:timers/promises';
import type { StreamResponse, Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { userOf } from './owner.ts';
import { taskNotFound } from './refusal.ts';
import type { MongoTaskStore } from './task-store.ts';

export interface FollowParts {
  tasks: MongoTaskStore;
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
  let seen = '';
  for (let look = 0, pauseMs = FIRST_PAUSE_MS; look < MOST_LOOKS; look++) {
    const task = await tasks.load(taskId, context);
    if (task === undefined) throw taskNotFound();
    const now = JSON.stringify([task.status?.state, task.status?.timestamp, task.artifacts.length]);
    if (now !== seen) yield structuredClone(task);
    seen = now;
    if (until(task) || !(await pause(pauseMs, signal))) return;
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
    else yield* changes(before, task);
    before = task;
  }
}

function* changes(before: Task, task: Task): Generator<StreamResponse> {
  const { id: taskId, contextId, status } = task;
  for (const artifact of task.artifacts.filter(({ artifactId }) => !before.artifacts.some((one) => one.artifactId === artifactId))) {
    yield {
      payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined } },
    };
  }
  if (before.status?.state === status?.state && before.status?.timestamp === status?.timestamp) return;
  yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } };
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
