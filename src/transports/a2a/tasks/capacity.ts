import { TaskState } from '@a2a-js/sdk';
import type { Collection } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import { isWalletOwner } from '../agent-user.ts';
import type { TaskDoc } from './doc.ts';
import { TERMINAL_STATES } from './states.ts';

/** Stored tasks per quota key. An address has one key for programs and one for pages. */
export const MAX_TASKS = { wallet: 2_000, address: 200 } as const;

export const CAPACITY_KEY = { countedAs: 1, createdAt: 1 } as const;

/** Eviction order; running tasks are never evicted. */
const EVICTION_ORDER: readonly (readonly TaskState[])[] = [
  TERMINAL_STATES,
  [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED, TaskState.TASK_STATE_UNSPECIFIED],
];
const RETRY_AFTER_SECONDS = 60;

export interface TaskCapacityDeps {
  tasks: Collection<TaskDoc>;
  onEvicted(task: Pick<TaskDoc, '_id' | 'owner'>): Promise<void>;
}

export class TaskCapacity {
  readonly #deps: TaskCapacityDeps;

  constructor(deps: TaskCapacityDeps) {
    this.#deps = deps;
  }

  /** Evicts the oldest tasks at the limit. @throws OracleError RATE_LIMITED if all are running */
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
    const { tasks, onEvicted } = this.#deps;
    const oldest = await tasks
      .find({ countedAs, state: { $in: [...states] } }, { hint: CAPACITY_KEY, projection: { owner: 1 } })
      .sort({ createdAt: 1 })
      .limit(max)
      .toArray();
    for (const { _id, owner } of oldest) {
      await tasks.deleteOne({ _id, state: { $in: [...states] } }, { hint: { _id: 1 } });
      await onEvicted({ _id, owner });
    }
    return oldest.length;
  }
}

function tooManyTasks(max: number): OracleError {
  const suggestedAction = 'Wait until some of them end.';
  return new OracleError('RATE_LIMITED', `${max} of your tasks are running`, { suggestedAction, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
