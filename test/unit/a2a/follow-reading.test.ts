import { TaskState } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import { followTask } from '../../../src/a2a/follow.ts';
import { newTask } from '../../../src/a2a/new-task.ts';
import { contextFor } from '../../../src/a2a/owner.ts';
import { statusOf } from '../../../src/a2a/parts.ts';
import { isTerminal, stateName } from '../../../src/a2a/task-states.ts';
import { PUBLIC_CALLER } from '../../../src/record/caller.ts';
import { messageOf, textPart } from '../../support/agent-doors/a2a.ts';

const context = contextFor({ caller: PUBLIC_CALLER, address: '192.0.2.1' });
const [taskId, contextId] = ['a-task', 'a-context'];

function taskIn(state: TaskState) {
  const [message, at] = [messageOf([textPart('hello')]).message!, new Date()];
  return { ...newTask({ taskId, contextId, message, at }), status: statusOf({ taskId, contextId, state, at }) };
}

/** A task whose changes are these, one a look; how it was read at each of them. */
async function readings(changes: readonly (string | undefined)[]) {
  const rest = [...changes];
  const read: string[] = [];
  let last = '';
  const reading = (how: string) => async () => {
    read.push(`${how} ${last}`);
    return taskIn(last === 'end' ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_WORKING);
  };
  const changeOf = async () => {
    last = rest.shift() ?? 'end';
    return last;
  };
  const parts = { tasks: { changeOf, load: reading('load'), peek: reading('peek') }, stopping: new AbortController().signal };
  const states: string[] = [];
  for await (const task of followTask(parts, taskId, { context, until: isTerminal })) states.push(stateName(task));
  return { read, states };
}

test('a task is read when it has changed, and not at each look', async () => {
  const { read, states } = await readings(['a', 'a', 'a', 'a', 'b', 'b', 'end']);
  expect(read).toEqual(['peek a', 'peek b', 'peek end']);
  expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
});

test('a task whose process may be dead is read so that this is told', async () => {
  expect((await readings(['a', 'a', '', '', 'end'])).read).toEqual(['peek a', 'load ', 'load ', 'peek end']);
});

test('a task that is gone is told as not found', async () => {
  const gone = async () => undefined;
  const parts = { tasks: { changeOf: gone, load: gone, peek: gone }, stopping: new AbortController().signal };
  await expect(followTask(parts, taskId, { context, until: isTerminal }).next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
