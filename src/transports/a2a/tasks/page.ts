import { type ListTasksRequest, Task, TaskState } from '@a2a-js/sdk';
import type { Filter } from 'mongodb';
import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { parseJsonOrNull } from '../../../platform/validation/parse-json.ts';
import { type TaskDoc, unpackTaskJson } from './doc.ts';

interface PageCursor {
  statusAt: Date;
  id: string;
}

const MAX_TOKEN_CHARACTERS = 300;

const PAGE_TOKEN = z.tuple([z.int().min(0).max(8.64e15), z.string().min(1).max(128)]);

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

export function buildListFilter({ contextId, status, statusTimestampAfter }: ListTasksRequest, owner: string): Filter<TaskDoc> {
  return {
    owner,
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

function encodePageToken({ statusAt, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([statusAt.getTime(), id])).toString('base64url');
}

/** @throws OracleError INPUT_INVALID for a token that was not issued here */
function parsePageToken(token: string): PageCursor {
  const parsed =
    token.length > MAX_TOKEN_CHARACTERS
      ? undefined
      : PAGE_TOKEN.safeParse(parseJsonOrNull(Buffer.from(token, 'base64url').toString('utf8'))).data;
  if (parsed === undefined) {
    const suggestedAction = 'Send nextPageToken of the page before as it is, or leave it out for the first page.';
    throw new OracleError('INPUT_INVALID', 'This page token was not issued here', { field: 'pageToken', suggestedAction });
  }
  return { statusAt: new Date(parsed[0]), id: parsed[1] };
}
