import { type Message, type Task, TaskState } from '@a2a-js/sdk';
import { statusOf } from './parts.ts';

export interface NewTask {
  taskId: string;
  contextId: string;
  message: Message;
  at: Date;
  /** Where it is known already. */
  skill?: string;
}

/** A task that nothing has been done for yet. */
export function newTask({ taskId, contextId, message, at, skill }: NewTask): Task {
  return {
    id: taskId,
    contextId,
    status: statusOf({ taskId, contextId, state: TaskState.TASK_STATE_SUBMITTED, at }),
    artifacts: [],
    history: [{ ...message, taskId, contextId }],
    metadata: skill === undefined ? undefined : { skill },
  };
}
