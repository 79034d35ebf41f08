import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Task, type TaskState } from '@a2a-js/sdk';

/** A task as the database has it. */
export interface TaskDoc {
  _id: string;
  owner: string;
  /** Whose limits it is counted against: an owner's, or those of several together. */
  countedAs: string;
  contextId: string;
  state: TaskState;
  statusAt: Date;
  /** The skill that was asked for; null until it is known. */
  skill: string | null;
  /** `messageId` of what its owner sent last. */
  asked: string | null;
  /** Changes whenever a process begins to work on it. */
  run: string;
  /** When it was last worked on, by the database's clock. */
  aliveAt: Date;
  createdAt: Date;
  expiresAt: Date;
  /** Whether its answer is sold, or waits to be. */
  isSold: boolean;
  /** Another one whenever the task is written. */
  change: string;
  /**
   * `Task` as JSON, deflated, in base64: what callers send may hold names that the database does not take, and the protocol repeats
   * the newest message in the history. Tasks of older versions are JSON text.
   */
  task: string;
}

/** A task as it is stored. */
export function packTask(task: Task): string {
  return deflateRawSync(JSON.stringify(Task.toJSON(task))).toString('base64');
}

/** The JSON text of a stored task. */
export function unpackTaskJson({ task }: Pick<TaskDoc, 'task'>): string {
  return task.startsWith('{') ? task : inflateRawSync(Buffer.from(task, 'base64')).toString();
}

export function unpackTask(doc: Pick<TaskDoc, 'task'>): Task {
  return Task.fromJSON(JSON.parse(unpackTaskJson(doc)));
}
