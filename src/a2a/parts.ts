import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type TaskState, type TaskStatus } from '@a2a-js/sdk';
import { EXTENSIONS } from '../../agent-card/extensions.ts';
import type { ToldError } from '../errors.ts';

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

export function dataPart(value: Record<string, unknown>): Part {
  return { content: { $case: 'data', value }, mediaType: 'application/json', filename: '', metadata: undefined };
}

/** What a data part holds, of the first one among these; undefined without one. */
export function dataOf(parts: readonly Part[] | undefined): Record<string, unknown> | undefined {
  const content = parts?.find((part) => part.content?.$case === 'data')?.content;
  return content?.$case === 'data' ? content.value : undefined;
}

/** An error in words and as data. */
export function errorParts(error: ToldError): Part[] {
  return [textPart(`${error.message}. ${error.suggestedAction}`), dataPart({ ...error })];
}

export interface StatusSource {
  taskId: string;
  contextId: string;
  state: TaskState;
  at: Date;
  /** What the agent says with it. */
  parts?: Part[];
  /** Metadata of that, by the x402 extension. */
  said?: Record<string, unknown>;
}

export function statusOf({ taskId, contextId, state, at, parts, said }: StatusSource): TaskStatus {
  const message: Message | undefined = parts && {
    messageId: randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: said,
    extensions: said === undefined ? [] : [EXTENSIONS.x402],
    referenceTaskIds: [],
  };
  return { state, message, timestamp: at.toISOString() };
}
