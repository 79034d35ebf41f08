import { TaskState } from '@a2a-js/sdk';
import type { Collection } from 'mongodb';
import { OracleError } from '../errors.ts';
import { isWallet } from './owner.ts';
import type { TaskDoc } from './task-doc.ts';
import { TERMINAL } from './task-states.ts';

/** Tasks that are kept for a wallet, or for an address: for its programs and again for the pages that are shown there. */
export const TASKS_KEPT = { wallet: 2_000, address: 200 } as const;

export const ROOM_KEY = { countedAs: 1, createdAt: 1 } as const;

/** What makes room for a new task, in this order; one that is worked on never does. */
const LEAVING: readonly (readonly TaskState[])[] = [
  TERMINAL,
  [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED, TaskState.TASK_STATE_UNSPECIFIED],
];
const RETRY_AFTER_SECONDS = 60;

/** A task that is kept no longer. */
export type DroppedTask = Pick<TaskDoc, '_id' | 'owner'>;

export interface TaskRoomParts {
  tasks: Collection<TaskDoc>;
  onDropped(task: DroppedTask): Promise<void>;
}

/** Bounds how many tasks are kept for whoever sends them. */
export class TaskRoom {
  readonly #parts: TaskRoomParts;

  constructor(parts: TaskRoomParts) {
    this.#parts = parts;
  }

  /** Deletes the oldest tasks where there are as many as are kept. @throws OracleError RATE_LIMITED when all are worked on */
  async make(countedAs: string): Promise<void> {
    const most = isWallet(countedAs) ? TASKS_KEPT.wallet : TASKS_KEPT.address;
    const kept = await this.#parts.tasks.countDocuments({ countedAs }, { hint: ROOM_KEY });
    let excess = kept - most + 1;
    for (const states of LEAVING) {
      if (excess <= 0) return;
      excess -= await this.#drop(countedAs, states, excess);
    }
    if (excess > 0) throw tooMany(most);
  }

  async #drop(countedAs: string, states: readonly TaskState[], most: number): Promise<number> {
    const { tasks, onDropped } = this.#parts;
    const oldest = await tasks
      .find({ countedAs, state: { $in: [...states] } }, { hint: ROOM_KEY, projection: { owner: 1 } })
      .sort({ createdAt: 1 })
      .limit(most)
      .toArray();
    for (const { _id, owner } of oldest) {
      await tasks.deleteOne({ _id, state: { $in: [...states] } }, { hint: { _id: 1 } });
      await onDropped({ _id, owner });
    }
    return oldest.length;
  }
}

function tooMany(most: number): OracleError {
  return new OracleError('RATE_LIMITED', `${most} tasks of yours are being worked on`, {
    suggestedAction: 'Wait until some of them have ended.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
