import { TaskState } from '@a2a-js/sdk';
import type { Collection } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import { isWalletOwner } from '../agent-user.ts';
import type { TaskDoc } from './doc.ts';
import { TERMINAL_STATES } from './states.ts';

/** Tasks that are kept for a wallet, or for an address: for its programs and again for the pages that are shown there. */
export const MAX_TASKS = { wallet: 2_000, address: 200 } as const;

export const CAPACITY_KEY = { countedAs: 1, createdAt: 1 } as const;

/** What makes room for a new task, in this order; one that is worked on never does. */
const EVICTION_ORDER: readonly (readonly TaskState[])[] = [
  TERMINAL_STATES,
  [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED, TaskState.TASK_STATE_UNSPECIFIED],
];
const RETRY_AFTER_SECONDS = 60;

/** A task that is kept no longer. */
export type EvictedTask = Pick<TaskDoc, '_id' | 'owner'>;

export interface TaskCapacityDeps {
  tasks: Collection<TaskDoc>;
  onEvicted(task: EvictedTask): Promise<void>;
}

/** Bounds how many tasks are kept for whoever sends them. */
export class TaskCapacity {
  readonly #deps: TaskCapacityDeps;

  constructor(deps: TaskCapacityDeps) {
    this.#deps = deps;
  }

  /** Deletes the oldest tasks where there are as many as are kept. @throws OracleError RATE_LIMITED when all are worked on */
  async ensureRoom(countedAs: string): Promise<void> {
    const max = isWalletOwner(countedAs) ? MAX_TASKS.wallet : MAX_TASKS.address;
    const kept = await this.#deps.tasks.countDocuments({ countedAs }, { hint: CAPACITY_KEY });
    let excess = kept - max + 1;
    for (const states of EVICTION_ORDER) {
      if (excess <= 0) return;
      excess -= await this.#evict(countedAs, states, excess);
    }
    if (excess > 0) throw tooManyTasks(max);
  }

  async #evict(countedAs: string, states: readonly TaskState[], max: number): Promise<number> {
    const { tasks, onEvicted: onDropped } = this.#deps;
    const oldest = await tasks
      .find({ countedAs, state: { $in: [...states] } }, { hint: CAPACITY_KEY, projection: { owner: 1 } })
      .sort({ createdAt: 1 })
      .limit(max)
      .toArray();
    for (const { _id, owner } of oldest) {
      await tasks.deleteOne({ _id, state: { $in: [...states] } }, { hint: { _id: 1 } });
      await onDropped({ _id, owner });
    }
    return oldest.length;
  }
}

function tooManyTasks(max: number): OracleError {
  return new OracleError('RATE_LIMITED', `${max} tasks of yours are being worked on`, {
    suggestedAction: 'Wait until some of them have ended.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
