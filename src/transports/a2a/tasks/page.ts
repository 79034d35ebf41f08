import { type ListTasksRequest, Task, TaskState } from '@a2a-js/sdk';
import type { Filter } from 'mongodb';
import { isWalletOwner } from '../agent-user.ts';
import { type TaskDoc, unpackTaskJson } from './doc.ts';
import { encodePageToken, parsePageToken } from './page-token.ts';

/** Bytes of JSON that a page tells at most, and reads for it; a page has at least one task. */
export const PAGE_LIMITS = { responseBytes: 1_000_000, readBytes: 8_000_000 } as const;

export interface TaskPage {
  tasks: Task[];
  /** Empty for the last page. */
  nextPageToken: string;
}

export type PageOptions = Pick<ListTasksRequest, 'includeArtifacts' | 'historyLength'> & { pageSize: number };

/**
 * As many tasks as fit on a page: the protocol allows fewer than were asked for.
 * @param found in their order, at least one more than `pageSize` where there are so many
 */
export async function readTaskPage(found: AsyncIterable<TaskDoc>, options: PageOptions): Promise<TaskPage> {
  const tasks: Task[] = [];
  let [responseBytes, readBytes] = [0, 0];
  let last: TaskDoc | undefined;
  for await (const doc of found) {
    const json = unpackTaskJson(doc);
    const task = trimTask(Task.fromJSON(JSON.parse(json)), options);
    responseBytes += Buffer.byteLength(JSON.stringify(Task.toJSON(task)));
    readBytes += json.length;
    const isFull = tasks.length === options.pageSize || responseBytes > PAGE_LIMITS.responseBytes || readBytes > PAGE_LIMITS.readBytes;
    if (isFull && last !== undefined) return { tasks, nextPageToken: encodePageToken({ statusAt: last.statusAt, id: last._id }) };
    tasks.push(task);
    last = doc;
  }
  return { tasks, nextPageToken: '' };
}

function trimTask(task: Task, { includeArtifacts, historyLength }: PageOptions): Task {
  const history = historyLength === undefined ? task.history : historyLength === 0 ? [] : task.history.slice(-historyLength);
  return { ...task, history, artifacts: includeArtifacts ? task.artifacts : [] };
}

/** What a list asks for. A task that was paid for without a token is told to whoever knows its id, not to everybody at the address. */
export function buildListFilter({ contextId, status, statusTimestampAfter }: ListTasksRequest, owner: string): Filter<TaskDoc> {
  return {
    owner,
    ...(isWalletOwner(owner) ? {} : { isSold: { $ne: true } }),
    ...(contextId === '' ? {} : { contextId }),
    ...(status === TaskState.TASK_STATE_UNSPECIFIED ? {} : { state: status }),
    ...(statusTimestampAfter === undefined || statusTimestampAfter === '' ? {} : { statusAt: { $gt: new Date(statusTimestampAfter) } }),
  };
}

/** What is left of it after a page. @throws OracleError INPUT_INVALID */
export function applyPageToken(filter: Filter<TaskDoc>, pageToken: string): Filter<TaskDoc> {
  if (pageToken === '') return filter;
  const { statusAt, id } = parsePageToken(pageToken);
  return { $and: [filter, { $or: [{ statusAt: { $lt: statusAt } }, { statusAt, _id: { $lt: id } }] }] };
}
