import { type ListTasksRequest, Task, TaskState } from '@a2a-js/sdk';
import type { Filter } from 'mongodb';
import { isWalletOwner } from '../agent-user.ts';
import { type TaskDoc, unpackTaskJson } from './doc.ts';
import { encodePageToken, parsePageToken } from './page-token.ts';

/** Maximum JSON bytes that a page returns and reads; it holds at least one task. */
export const PAGE_LIMITS = { responseBytes: 1_000_000, readBytes: 8_000_000 } as const;

export interface TaskPage {
  tasks: Task[];
  /** Empty on the last page. */
  nextPageToken: string;
}

export type PageOptions = Pick<ListTasksRequest, 'includeArtifacts' | 'historyLength'> & { pageSize: number };

/** Fills a page up to the limits. @param found sorted, at least one more than `pageSize` if there are more */
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

/** Anonymous lists omit paid tasks, so that another client at the address cannot read them without knowing the id. */
export function buildListFilter({ contextId, status, statusTimestampAfter }: ListTasksRequest, owner: string): Filter<TaskDoc> {
  return {
    owner,
    ...(isWalletOwner(owner) ? {} : { isSold: { $ne: true } }),
    ...(contextId === '' ? {} : { contextId }),
    ...(status === TaskState.TASK_STATE_UNSPECIFIED ? {} : { state: status }),
    ...(statusTimestampAfter === undefined || statusTimestampAfter === '' ? {} : { statusAt: { $gt: new Date(statusTimestampAfter) } }),
  };
}

/** Restricts a filter to the tasks after a page token. @throws OracleError INPUT_INVALID */
export function applyPageToken(filter: Filter<TaskDoc>, pageToken: string): Filter<TaskDoc> {
  if (pageToken === '') return filter;
  const { statusAt, id } = parsePageToken(pageToken);
  return { $and: [filter, { $or: [{ statusAt: { $lt: statusAt } }, { statusAt, _id: { $lt: id } }] }] };
}
