import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { describe, expect, test } from 'vitest';
import { buildTaskStatus, createPlainCallContext } from '../../../../../src/a2a/protocol.ts';
import { streamTask } from '../../../../../src/a2a/task-events.ts';
import { buildTask, getStateName, isTerminal, type MongoTaskStore } from '../../../../../src/a2a/task-store.ts';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';

const { TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_SUBMITTED, TASK_STATE_WORKING } = TaskState;
const context = createPlainCallContext({ caller: PUBLIC_CALLER, address: '192.0.2.1' });
const [taskId, contextId] = ['a-task', 'a-context'];

/** The task as one poll finds it. */
function seen(state: TaskState, artifacts = 0, atSecond = 0): Task {
  const at = new Date(Date.UTC(2026, 0, 5, 12, 0, atSecond));
  const made = Array.from({ length: artifacts }, (_, index) => ({
    ...{ artifactId: `artifact-${index}`, name: 'a', description: '', parts: [textPart('x')], metadata: undefined, extensions: [] },
  }));
  const task = buildTask({ taskId, contextId, message: messageOf([textPart('hello')]).message!, at });
  return { ...task, artifacts: made, status: buildTaskStatus({ taskId, contextId, state, at }) };
}

function nameOf({ payload }: StreamResponse): string {
  if (payload?.$case === 'artifactUpdate') return payload.value.artifact!.artifactId;
  if (payload?.$case === 'statusUpdate' || payload?.$case === 'task') return `${payload.$case} ${getStateName(payload.value)}`;
  return expect.fail('no such event');
}

async function eventsOf(looks: readonly Task[]): Promise<string[]> {
  const rest = [...looks];
  const tasks = { getChangeToken: async () => '', load: async () => rest.shift() } as unknown as MongoTaskStore;
  const names: string[] = [];
  const parts = { tasks, stopping: new AbortController().signal };
  for await (const event of streamTask(parts, taskId, { context, until: isTerminal })) names.push(nameOf(event));
  return names;
}

const [WORKING, COMPLETED] = ['statusUpdate TASK_STATE_WORKING', 'statusUpdate TASK_STATE_COMPLETED'];

describe('a follower gets events in causal order, however rarely it polls', () => {
  test.each<[string, Task[], string[]]>([
    [
      'at every change',
      [seen(TASK_STATE_SUBMITTED), seen(TASK_STATE_WORKING), seen(TASK_STATE_WORKING, 1), seen(TASK_STATE_COMPLETED, 1, 1)],
      [WORKING, 'artifact-0', COMPLETED],
    ],
    ['after the end alone', [seen(TASK_STATE_SUBMITTED), seen(TASK_STATE_COMPLETED, 1, 1)], [WORKING, 'artifact-0', COMPLETED]],
    [
      'when it has begun and has its artifact',
      [seen(TASK_STATE_SUBMITTED), seen(TASK_STATE_WORKING, 1, 1), seen(TASK_STATE_COMPLETED, 1, 2)],
      [WORKING, 'artifact-0', COMPLETED],
    ],
    [
      'when its state is behind its artifact',
      [seen(TASK_STATE_SUBMITTED), seen(TASK_STATE_SUBMITTED, 1), seen(TASK_STATE_COMPLETED, 1, 2)],
      [WORKING, 'artifact-0', COMPLETED],
    ],
    ['from its work on', [seen(TASK_STATE_WORKING), seen(TASK_STATE_COMPLETED, 2, 1)], ['artifact-0', 'artifact-1', COMPLETED]],
    [
      'a task that was asked for more before',
      [seen(TASK_STATE_INPUT_REQUIRED), seen(TASK_STATE_COMPLETED, 1, 1)],
      [WORKING, 'artifact-0', COMPLETED],
    ],
    ['a task without an artifact', [seen(TASK_STATE_SUBMITTED), seen(TASK_STATE_FAILED, 0, 1)], ['statusUpdate TASK_STATE_FAILED']],
  ])('%s', async (_how, looks, expected) => {
    expect(await eventsOf(looks)).toEqual([`task ${getStateName(looks[0])}`, ...expected]);
  });
});
