import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type TaskState, type TaskStatus } from '@a2a-js/sdk';
import { EXTENSION_URIS } from '../../../../agent-card/card/extensions.ts';
import type { ClientError } from '../../../platform/errors.ts';

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

export function dataPart(value: Record<string, unknown>): Part {
  return { content: { $case: 'data', value }, mediaType: 'application/json', filename: '', metadata: undefined };
}

export function findData(parts: readonly Part[] | undefined): Record<string, unknown> | undefined {
  const content = parts?.find((part) => part.content?.$case === 'data')?.content;
  return content?.$case === 'data' ? content.value : undefined;
}

export function errorParts(error: ClientError): Part[] {
  return [textPart(`${error.message}. ${error.suggestedAction}`), dataPart({ ...error })];
}

export interface TaskStatusFields {
  taskId: string;
  contextId: string;
  state: TaskState;
  at: Date;
  /** Content of the status message. */
  parts?: Part[];
  /** Metadata of the status message, for the x402 extension. */
  messageMetadata?: Record<string, unknown>;
}

export function buildTaskStatus({ taskId, contextId, state, at, parts, messageMetadata }: TaskStatusFields): TaskStatus {
  const message: Message | undefined = parts && {
    messageId: randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: messageMetadata,
    extensions: messageMetadata === undefined ? [] : [EXTENSION_URIS.x402],
    referenceTaskIds: [],
  };
  return { state, message, timestamp: at.toISOString() };
}
