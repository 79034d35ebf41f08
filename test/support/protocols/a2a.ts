import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Part, Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';
import { dataPart, textPart } from '../../../src/a2a/plan.ts';
import { buildTask, buildTaskStatus } from '../../../src/a2a/tasks.ts';

/** A state, a whole artifact or the first or last chunk of one, or a pause. */
type Step = { state: TaskState; text?: string } | { part: Part; piece?: 'first' | 'last' } | { pauseMs: number };

/** The TCK gives streams 2 s, and waits once or twice as long in some scenarios. */
const STREAMING_TIMEOUT_MS = 2_000;

const FILE = { filename: 'output.txt', mediaType: 'text/plain', metadata: undefined };
const file: Part = { content: { $case: 'raw', value: Buffer.from('tck') }, ...FILE };
const fileUrl: Part = { content: { $case: 'url', value: 'https://example.com/output.txt' }, ...FILE };
const working: Step = { state: TaskState.TASK_STATE_WORKING };
const completed: Step = { state: TaskState.TASK_STATE_COMPLETED };
const artifact = (text: string): Step => ({ part: textPart(text) });

/** Scenarios of a2a-tck (1.0-dev, `scenarios/*.feature`) by prefix of the `messageId`; its other ids complete the task. */
const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  'tck-complete-task': [{ ...completed, text: 'Hello from TCK' }],
  'tck-delayed-complete': [working, { pauseMs: STREAMING_TIMEOUT_MS }, { ...completed, text: 'Done after delay' }],
  'tck-artifact-text': [artifact('Generated text content'), completed],
  'tck-artifact-file': [{ part: file }, completed],
  'tck-artifact-file-url': [{ part: fileUrl }, completed],
  'tck-artifact-data': [{ part: dataPart({ key: 'value', count: 42 }) }, completed],
  'tck-input-required': [{ state: TaskState.TASK_STATE_INPUT_REQUIRED, text: 'Please provide input' }],
  'tck-auth-required': [{ state: TaskState.TASK_STATE_AUTH_REQUIRED, text: 'Please authorize' }],
  'tck-reject-task': [{ state: TaskState.TASK_STATE_REJECTED, text: 'rejected' }],
  'tck-stream-001': [working, artifact('Stream hello from TCK'), completed],
  'tck-stream-002': [completed],
  'tck-stream-003': [working, artifact('Stream task lifecycle'), completed],
  'tck-stream-ordering-001': [working, artifact('Ordered output'), completed],
  'tck-stream-artifact-text': [working, artifact('Streamed text content'), completed],
  'tck-stream-artifact-file': [working, { part: file }, completed],
  'tck-stream-artifact-chunked': [
    ...[working, { part: textPart('chunk-1 '), piece: 'first' as const }],
    ...[{ part: textPart('chunk-2'), piece: 'last' as const }, completed],
  ],
  'test-resubscribe-message-id': [working, { pauseMs: 2 * STREAMING_TIMEOUT_MS }, completed],
  'tck-': [{ ...completed, text: 'Unhandled messageId prefix' }],
};

const PREFIXES = Object.keys(SCENARIOS).sort((a, b) => b.length - a.length);

function findPrefix(messageId: string): string | undefined {
  return PREFIXES.find((prefix) => messageId.startsWith(prefix));
}

/** Whether a message belongs to the TCK. It reuses ids, so these messages bypass deduplication. */
function isFixture(messageId: string): boolean {
  return findPrefix(messageId) !== undefined;
}

/** Plays the scenario of the message; false if there is none. A new task is announced before its events, an existing one as working. */
async function play({ taskId, contextId, task, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<boolean> {
  const prefix = findPrefix(userMessage.messageId);
  if (prefix === undefined) return false;
  const ids = { taskId, contextId };
  if (userMessage.messageId.startsWith('tck-message-response')) {
    const parts = [textPart('Direct message response')];
    const nothing = { metadata: undefined, extensions: [], referenceTaskIds: [] };
    bus.publish(AgentEvent.message({ ...ids, messageId: randomUUID(), role: Role.ROLE_AGENT, parts, ...nothing }));
    return true;
  }
  const buildStatus = (state: TaskState, parts?: Part[]) => buildTaskStatus({ ...ids, state, at: new Date(), parts });
  const resumed = task && { ...task, status: buildStatus(TaskState.TASK_STATE_WORKING) };
  bus.publish(AgentEvent.task(resumed ?? buildTask({ ...ids, message: userMessage, at: new Date() })));
  for (const step of SCENARIOS[prefix]!) {
    if ('pauseMs' in step) await pause(step.pauseMs, undefined, { ref: false });
    else if ('state' in step) {
      const status = buildStatus(step.state, step.text === undefined ? undefined : [textPart(step.text)]);
      bus.publish(AgentEvent.statusUpdate({ ...ids, status, metadata: undefined }));
    } else {
      const more = { name: '', description: '', metadata: undefined, extensions: [] };
      const whole = { artifactId: `artifact-of-${taskId}`, parts: [step.part], ...more };
      const chunk = { append: step.piece === 'last', lastChunk: step.piece !== 'first', metadata: undefined };
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact: whole, ...chunk }));
    }
  }
  return true;
}

export const a2aFixtures = { isFixture, play };
