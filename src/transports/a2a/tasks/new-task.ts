import { type Message, type Task, TaskState } from '@a2a-js/sdk';
import { buildTaskStatus } from '../messages/parts.ts';

export interface NewTaskFields {
  taskId: string;
  contextId: string;
  message: Message;
  at: Date;
  /** Set if it is known already. */
  skill?: string;
}

export function buildTask({ taskId, contextId, message, at, skill }: NewTaskFields): Task {
  return {
    id: taskId,
    contextId,
    status: buildTaskStatus({ taskId, contextId, state: TaskState.TASK_STATE_SUBMITTED, at }),
    artifacts: [],
    history: [{ ...message, taskId, contextId }],
    metadata: skill === undefined ? undefined : { skill },
  };
}
