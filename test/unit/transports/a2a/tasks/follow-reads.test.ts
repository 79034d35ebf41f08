import { TaskState } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import { buildTaskStatus, createPlainCallContext } from '../../../../../src/a2a/protocol.ts';
import { followTask } from '../../../../../src/a2a/task-events.ts';
import { buildTask, getStateName, isTerminal } from '../../../../../src/a2a/task-store.ts';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';

const context = createPlainCallContext({ caller: PUBLIC_CALLER, address: '192.0.2.1' });
const [taskId, contextId] = ['a-task', 'a-context'];

function taskIn(state: TaskState) {
  const [message, at] = [messageOf([textPart('hello')]).message!, new Date()];
  return { ...buildTask({ taskId, contextId, message, at }), status: buildTaskStatus({ taskId, contextId, state, at }) };
}

/** Polls a task with these change tokens, and returns how each poll read it. */
async function readings(changes: readonly (string | undefined)[]) {
  const rest = [...changes];
  const read: string[] = [];
  let last = '';
  const reading = (how: string) => async () => {
    read.push(`${how} ${last}`);
    return taskIn(last === 'end' ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_WORKING);
  };
  const getChangeToken = async () => {
    last = rest.shift() ?? 'end';
    return last;
  };
  const parts = { tasks: { getChangeToken, load: reading('load'), peek: reading('peek') }, stopping: new AbortController().signal };
  const states: string[] = [];
  for await (const task of followTask(parts, taskId, { context, until: isTerminal })) states.push(getStateName(task));
  return { read, states };
}

test('reads a task only after its change token has changed', async () => {
  const { read, states } = await readings(['a', 'a', 'a', 'a', 'b', 'b', 'end']);
  expect(read).toEqual(['peek a', 'peek b', 'peek end']);
  expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
});

test('loads a task whose lease may have expired, so that it is failed', async () => {
  expect((await readings(['a', 'a', '', '', 'end'])).read).toEqual(['peek a', 'load ', 'load ', 'peek end']);
});

test('throws NOT_FOUND for a deleted task', async () => {
  const gone = async () => undefined;
  const parts = { tasks: { getChangeToken: gone, load: gone, peek: gone }, stopping: new AbortController().signal };
  await expect(followTask(parts, taskId, { context, until: isTerminal }).next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
