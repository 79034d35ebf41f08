import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutionEvent, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';
import { buildTaskStatus, dataPart, textPart } from './protocol.ts';

/** One event of an answer, or a pause in milliseconds. */
type Step = number | ((at: TaskRef) => AgentExecutionEvent);

type TaskRef = Pick<RequestContext, 'taskId' | 'contextId'>;

/** The TCK gives streams 2 s, and waits once or twice as long in some scenarios. */
const STREAMING_TIMEOUT_MS = 2_000;

const FILE = { filename: 'output.txt', mediaType: 'text/plain', metadata: undefined };
const file: Part = { content: { $case: 'raw', value: Buffer.from('tck') }, ...FILE };
const fileUrl: Part = { content: { $case: 'url', value: 'https://example.com/output.txt' }, ...FILE };
const data = dataPart({ key: 'value', count: 42 });
const working = statusStep(TaskState.TASK_STATE_WORKING);
const completed = statusStep(TaskState.TASK_STATE_COMPLETED);

/** Scenarios of a2a-tck (1.0-dev, `scenarios/*.feature`) by prefix of the `messageId`; its other ids complete the task. */
const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  'tck-complete-task': [statusStep(TaskState.TASK_STATE_COMPLETED, 'Hello from TCK')],
  'tck-delayed-complete': [working, STREAMING_TIMEOUT_MS, statusStep(TaskState.TASK_STATE_COMPLETED, 'Done after delay')],
  'tck-artifact-text': [artifactStep(textPart('Generated text content')), completed],
  'tck-artifact-file': [artifactStep(file), completed],
  'tck-artifact-file-url': [artifactStep(fileUrl), completed],
  'tck-artifact-data': [artifactStep(data), completed],
  'tck-message-response': [messageStep('Direct message response')],
  'tck-input-required': [statusStep(TaskState.TASK_STATE_INPUT_REQUIRED, 'Please provide input')],
  'tck-auth-required': [statusStep(TaskState.TASK_STATE_AUTH_REQUIRED, 'Please authorize')],
  'tck-reject-task': [statusStep(TaskState.TASK_STATE_REJECTED, 'rejected')],
  'tck-stream-001': [working, artifactStep(textPart('Stream hello from TCK')), completed],
  'tck-stream-002': [completed],
  'tck-stream-003': [working, artifactStep(textPart('Stream task lifecycle')), completed],
  'tck-stream-ordering-001': [working, artifactStep(textPart('Ordered output')), completed],
  'tck-stream-artifact-text': [working, artifactStep(textPart('Streamed text content')), completed],
  'tck-stream-artifact-file': [working, artifactStep(file), completed],
  'tck-stream-artifact-chunked': [
    working,
    artifactStep(textPart('chunk-1 '), 'first'),
    artifactStep(textPart('chunk-2'), 'last'),
    completed,
  ],
  'test-resubscribe-message-id': [working, 2 * STREAMING_TIMEOUT_MS, completed],
  'tck-': [statusStep(TaskState.TASK_STATE_COMPLETED, 'Unhandled messageId prefix')],
};

const PREFIXES = Object.keys(SCENARIOS).sort((a, b) => b.length - a.length);

/** Whether a message belongs to the TCK. It reuses ids, so these messages bypass deduplication. */
export function isFixture(messageId: string): boolean {
  return findPrefix(messageId) !== undefined;
}

/** Plays the scenario of the message; false if there is none. A new task is announced before its events, an existing one as working. */
export async function playFixture(context: RequestContext, bus: ExecutionEventBus): Promise<boolean> {
  const { taskId, contextId } = context;
  const { messageId } = context.userMessage;
  const prefix = findPrefix(messageId);
  if (prefix === undefined) return false;
  // Answered with a message instead of a task.
  if (prefix !== 'tck-message-response') bus.publish(AgentEvent.task(buildOpenedTask(context)));
  for (const step of SCENARIOS[prefix]!) {
    if (typeof step === 'number') await pause(step, undefined, { ref: false });
    else bus.publish(step({ taskId, contextId }));
  }
  return true;
}

function findPrefix(messageId: string): string | undefined {
  return PREFIXES.find((prefix) => messageId.startsWith(prefix));
}

function buildOpenedTask({ taskId, contextId, task, userMessage }: RequestContext): Task {
  const state = task === undefined ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
  const fresh = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined };
  return { ...(task ?? fresh), status: buildTaskStatus({ taskId, contextId, state, at: new Date() }) };
}

function statusStep(state: TaskState, text?: string): Step {
  return (at) => {
    const said = text === undefined ? {} : { parts: [textPart(text)] };
    return AgentEvent.statusUpdate({ ...at, status: buildTaskStatus({ ...at, state, at: new Date(), ...said }), metadata: undefined });
  };
}

/** A whole artifact, or the first or last chunk of one. */
function artifactStep(part: Part, piece?: 'first' | 'last'): Step {
  return (at) =>
    AgentEvent.artifactUpdate({
      ...at,
      artifact: { artifactId: `artifact-of-${at.taskId}`, name: '', description: '', parts: [part], metadata: undefined, extensions: [] },
      append: piece === 'last',
      lastChunk: piece !== 'first',
      metadata: undefined,
    });
}

function messageStep(text: string): Step {
  return (at) => {
    const nothing = { metadata: undefined, extensions: [], referenceTaskIds: [] };
    return AgentEvent.message({ messageId: randomUUID(), ...at, role: Role.ROLE_AGENT, parts: [textPart(text)], ...nothing });
  };
}
