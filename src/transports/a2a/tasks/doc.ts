import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Task, type TaskState } from '@a2a-js/sdk';

export interface TaskDoc {
  _id: string;
  owner: string;
  /** Quota key, which several owners may share. */
  countedAs: string;
  contextId: string;
  state: TaskState;
  statusAt: Date;
  /** Null until it is known. */
  skill: string | null;
  /** `messageId` of the owner's last message. */
  asked: string | null;
  /** Changes with each lease holder. */
  run: string;
  /** Heartbeat of the lease holder, by the clock of the database. */
  aliveAt: Date;
  createdAt: Date;
  expiresAt: Date;
  /** Whether the answer is paid for, or awaits payment. */
  isSold: boolean;
  /** Changes with each write. */
  change: string;
  /** Deflated JSON in base64: as a sub-document its keys might be rejected, and the SDK repeats the newest message in the history. */
  task: string;
}

export function packTask(task: Task): string {
  return deflateRawSync(JSON.stringify(Task.toJSON(task))).toString('base64');
}

export function unpackTaskJson({ task }: Pick<TaskDoc, 'task'>): string {
  return inflateRawSync(Buffer.from(task, 'base64')).toString();
}

export function unpackTask(doc: Pick<TaskDoc, 'task'>): Task {
  return Task.fromJSON(JSON.parse(unpackTaskJson(doc)));
}
