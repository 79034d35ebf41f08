import { Message, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildTask,
  buildTaskStatus,
  followTask,
  getState,
  HISTORY_LIMITS,
  isTerminal,
  limitHistory,
  streamTask,
} from '../../../src/a2a/tasks.ts';
import { PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { callContext } from '../../support/a2a/call-context.ts';
import { messageOf, textPart } from '../../support/agent-clients/a2a.ts';

describe('follow reads', () => {
  const context = callContext({ caller: PUBLIC_CALLER, address: '192.0.2.1' });
  const [taskId, contextId] = ['a-task', 'a-context'];
  const { signal: stopping } = new AbortController();

  function taskIn(state: TaskState) {
    const [message, at] = [messageOf([textPart('hello')]).message!, new Date()];
    return { ...buildTask({ taskId, contextId, message, at }), status: buildTaskStatus({ taskId, contextId, state, at }) };
  }

  /** Polls a task with these change tokens, empty where its lease has expired, and returns how each poll read it. */
  async function readings(changes: readonly string[]) {
    const rest = [...changes];
    const read: string[] = [];
    const look = async () => {
      const change = rest.shift() ?? 'end';
      const task = taskIn(change === 'end' ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_WORKING);
      const take = () => {
        read.push(`read ${change}`);
        return task;
      };
      return { change, isAbandoned: change === '', read: take } as unknown as ReturnType<Looked['look']>;
    };
    const load = async () => {
      read.push('load');
      return taskIn(TaskState.TASK_STATE_WORKING);
    };
    const states: string[] = [];
    for await (const task of followTask({ look, load }, taskId, { context, until: isTerminal, stopping })) states.push(nameState(task));
    return { read, states };
  }

  test('reads a task only after its change token has changed', async () => {
    const { read, states } = await readings(['a', 'a', 'a', 'a', 'b', 'b', 'end']);
    expect(read).toEqual(['read a', 'read b', 'read end']);
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
  });

  test('loads a task whose lease may have expired, so that it is failed', async () => {
    expect((await readings(['a', 'a', '', '', 'end'])).read).toEqual(['read a', 'load', 'load', 'read end']);
  });

  test('throws NOT_FOUND for a deleted task', async () => {
    const gone = async () => undefined;
    const following = followTask({ look: gone, load: gone }, taskId, { context, until: isTerminal, stopping });
    await expect(following.next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

type Looked = Parameters<typeof followTask>[0];

const nameState = (task: Pick<Task, 'status'>) => TaskState[getState(task)];

describe('follow', () => {
  const { TASK_STATE_COMPLETED, TASK_STATE_FAILED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_SUBMITTED, TASK_STATE_WORKING } = TaskState;
  const context = callContext({ caller: PUBLIC_CALLER, address: '192.0.2.1' });
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
    if (payload?.$case === 'statusUpdate' || payload?.$case === 'task') return `${payload.$case} ${nameState(payload.value)}`;
    return expect.fail('no such event');
  }

  async function eventsOf(looks: readonly Task[]): Promise<string[]> {
    const rest = [...looks];
    const load = async () => rest.shift();
    const look = async () => ({ isAbandoned: true }) as unknown as ReturnType<Looked['look']>;
    const names: string[] = [];
    const { signal: stopping } = new AbortController();
    const changes = followTask({ look, load }, taskId, { context, until: isTerminal, stopping });
    for await (const event of streamTask(changes)) names.push(nameOf(event));
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
      expect(await eventsOf(looks)).toEqual([`task ${nameState(looks[0])}`, ...expected]);
    });
  });
});

const bytesOf = (history: Task['history']) => history.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(Message.toJSON(one))), 0);
const said = (length: number, messageId: string) => messageOf([textPart('\u0001'.repeat(length))], { messageId }).message!;

describe('the stored history', () => {
  test('keeps the newest messages that fit, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3_000 }), { maxLength: 60 }), (lengths) => {
        const history = lengths.map((length, index) => said(length, `m${index}`));
        const kept = limitHistory(history);
        expect(kept).toEqual(history.slice(history.length - kept.length));
        expect(kept.length).toBeLessThanOrEqual(HISTORY_LIMITS.messages);
        if (kept.length > 1) expect(bytesOf(kept)).toBeLessThanOrEqual(HISTORY_LIMITS.bytes);
        const more = history.slice(history.length - kept.length - 1);
        const isWhole = kept.length === history.length || kept.length === HISTORY_LIMITS.messages;
        if (!isWhole) expect(bytesOf(more)).toBeGreaterThan(HISTORY_LIMITS.bytes);
      }),
      { numRuns: 50 },
    );
  });

  test('keeps at least the last one, and each once', () => {
    const large = said(HISTORY_LIMITS.bytes, 'large');
    expect(limitHistory([said(1, 'a'), large])).toEqual([large]);
    expect(limitHistory([said(1, 'a'), said(1, 'b'), said(1, 'a')]).map(({ messageId }) => messageId)).toEqual(['a', 'b']);
    expect(limitHistory([])).toEqual([]);
  });
});
