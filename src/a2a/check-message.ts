import { type Message, type Part, Role, type SendMessageRequest } from '@a2a-js/sdk';
import { OracleError } from '../errors.ts';
import { isNestedDeeper } from './nesting.ts';

/** Bounds of a message; what is larger is refused before anything is kept of it. */
export const MESSAGE_BOUNDS = {
  parts: 20,
  textCharacters: 4_000,
  idCharacters: 128,
  metadataCharacters: 4_096,
  references: 10,
  uris: 20,
} as const;

const LONGEST_URI = 256;
/** No skill's input has nearly as many levels. */
const DEEPEST = 20;
const ID = new RegExp(`^[\\w.:@+=/-]{1,${MESSAGE_BOUNDS.idCharacters}}$`);

/**
 * The message of a request, bounded, and reduced to what the service reads and keeps.
 * @throws OracleError INPUT_INVALID naming the field, UNSUPPORTED_MEDIA_TYPE for a part that is neither text nor data
 */
export function checkMessage({ message, metadata, configuration }: SendMessageRequest): Message {
  if (message === undefined) throw invalid('message', 'is missing', 'Send a message with a messageId, a role and parts.');
  checkId(message.messageId, 'message.messageId');
  for (const field of ['taskId', 'contextId'] as const) if (message[field] !== '') checkId(message[field], `message.${field}`);
  if (message.role !== Role.ROLE_USER && message.role !== Role.ROLE_UNSPECIFIED) {
    throw invalid('message.role', 'must be that of the user', 'Send ROLE_USER, or "user" in protocol 0.3.');
  }
  checkMetadata(metadata, 'metadata');
  checkMetadata(message.metadata, 'message.metadata');
  checkHistoryLength(configuration?.historyLength, 'configuration.historyLength');
  checkUris(message.extensions);
  checkReferences(message.referenceTaskIds);
  return { ...message, role: Role.ROLE_USER, parts: checkedParts(message.parts) };
}

/** @throws OracleError INPUT_INVALID */
export function checkId(id: string, field: string): void {
  if (typeof id === 'string' && ID.test(id)) return;
  const problem =
    id === '' ? 'is missing' : `must be 1 to ${MESSAGE_BOUNDS.idCharacters} characters of letters, digits and . : @ + = / _ -`;
  throw invalid(field, problem, 'Use a UUID.');
}

/** @throws OracleError INPUT_INVALID */
export function checkHistoryLength(length: number | undefined, field = 'historyLength'): void {
  if (length === undefined || (Number.isInteger(length) && length >= 0)) return;
  throw invalid(field, 'must be a whole number from 0', 'Leave it out for the whole history.');
}

function checkedParts(parts: readonly Part[]): Part[] {
  if (parts.length === 0) throw invalid('message.parts', 'is empty', 'Send a data part { "skill", "input" } or a text part.');
  if (parts.length > MESSAGE_BOUNDS.parts)
    throw invalid('message.parts', `holds more than ${MESSAGE_BOUNDS.parts} parts`, 'Send fewer parts.');
  const checked = parts.map(checkedPart);
  const characters = checked.reduce((sum, { content }) => sum + (content?.$case === 'text' ? content.value.length : 0), 0);
  if (characters <= MESSAGE_BOUNDS.textCharacters) return checked;
  throw invalid(
    'message.parts',
    `holds more than ${MESSAGE_BOUNDS.textCharacters} characters of text`,
    'Ask in a sentence, or send a data part.',
  );
}

/** Without what the sender adds beside the content: nothing here reads it. */
function checkedPart({ content }: Part, index: number): Part {
  const field = `message.parts.${index}`;
  if (content === undefined) throw invalid(field, 'has no content', 'Give the part a text or data.');
  if (content.$case === 'raw' || content.$case === 'url') {
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', `${field}: files are not read here`, {
      field,
      suggestedAction: 'Send a data part { "skill", "input" } or a text part.',
    });
  }
  const isRight = content.$case === 'text' ? typeof content.value === 'string' : isObject(content.value);
  if (!isRight)
    throw invalid(field, content.$case === 'text' ? 'must be a text' : 'must hold an object', 'Send { "skill", "input" } as data.');
  if (isNestedDeeper(content.value, DEEPEST)) throw invalid(field, 'is nested too deeply', 'Send { "skill", "input" } as data.');
  return { content, metadata: undefined, filename: '', mediaType: content.$case === 'text' ? 'text/plain' : 'application/json' };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkMetadata(metadata: Record<string, unknown> | undefined, field: string): void {
  if (metadata === undefined) return;
  if (!isObject(metadata)) throw invalid(field, 'must be an object', 'Leave it out.');
  if (!isNestedDeeper(metadata, DEEPEST) && JSON.stringify(metadata).length <= MESSAGE_BOUNDS.metadataCharacters) return;
  throw invalid(field, `is larger than ${MESSAGE_BOUNDS.metadataCharacters} characters of JSON, or nested too deeply`, 'Send less of it.');
}

function checkUris(uris: readonly string[]): void {
  if (uris.length <= MESSAGE_BOUNDS.uris && uris.every((uri) => typeof uri === 'string' && uri.length <= LONGEST_URI)) return;
  throw invalid('message.extensions', `must be at most ${MESSAGE_BOUNDS.uris} URIs of at most ${LONGEST_URI} characters`, 'Name fewer.');
}

function checkReferences(ids: readonly string[]): void {
  const field = 'message.referenceTaskIds';
  if (ids.length > MESSAGE_BOUNDS.references) throw invalid(field, `names more than ${MESSAGE_BOUNDS.references} tasks`, 'Name fewer.');
  for (const id of ids) checkId(id, field);
}

function invalid(field: string, problem: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field} ${problem}`, { field, suggestedAction });
}
