import { type Task, TaskState, taskStateToJSON } from '@a2a-js/sdk';

export const TERMINAL_STATES: readonly TaskState[] = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];

export const ACTIVE_STATES: readonly TaskState[] = [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING];

export function getState({ status }: Pick<Task, 'status'>): TaskState {
  return status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
}

export function isTerminal(task: Pick<Task, 'status'>): boolean {
  return TERMINAL_STATES.includes(getState(task));
}

export function isActive(task: Pick<Task, 'status'>): boolean {
  return ACTIVE_STATES.includes(getState(task));
}

export function getStateName(task: Pick<Task, 'status'>): string {
  return taskStateToJSON(getState(task));
}
