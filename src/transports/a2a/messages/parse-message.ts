import { type Message, type Part, Role, type SendMessageRequest } from '@a2a-js/sdk';
import { MODES } from '../../../../agent-card/card/card.ts';
import { OracleError } from '../../../platform/errors.ts';
import { isNestedDeeper } from '../../../platform/validation/nesting.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import { PAYMENT_METADATA, removePaymentPayload } from '../payments/metadata.ts';

/** Limits of a message, checked before anything is stored. Bytes are those of its JSON, in which a character may take six. */
export const MESSAGE_LIMITS = {
  parts: 20,
  textBytes: 4_000,
  dataBytes: 4_096,
  idCharacters: 128,
  metadataBytes: 2_048,
  /** Payment payload in the metadata; signatures of contract wallets can be long. */
  paymentBytes: 20_480,
  references: 10,
  uris: 20,
} as const;

const MAX_URI_CHARACTERS = 256;
const OUTPUT_MODES: readonly string[] = [...MODES, ...MODES.map((mode) => `${mode.split('/')[0]}/*`), '*/*', 'text'];
/** Far above the depth of any skill input. */
const MAX_CONTENT_DEPTH = 20;
const CALL_EXAMPLE = 'Send { "skill", "input" } as data.';
const ID_PATTERN = new RegExp(`^[\\w.:@+=/-]{1,${MESSAGE_LIMITS.idCharacters}}$`);

/** Validates a message and reduces it to what is stored. @throws OracleError INPUT_INVALID, UNSUPPORTED_MEDIA_TYPE */
export function parseMessage({ message, metadata, configuration }: SendMessageRequest): Message {
  if (message === undefined) throw invalidMessageField('message', 'is missing', 'Send a message with a messageId, a role and parts.');
  checkId(message.messageId, 'message.messageId');
  for (const field of ['taskId', 'contextId'] as const) if (message[field] !== '') checkId(message[field], `message.${field}`);
  if (message.role !== Role.ROLE_USER && message.role !== Role.ROLE_UNSPECIFIED) {
    throw invalidMessageField('message.role', 'must be that of the user', 'Send ROLE_USER, or "user" in protocol 0.3.');
  }
  checkMetadata(metadata, 'metadata');
  checkMetadata(removePaymentPayload(message).metadata, 'message.metadata');
  const { payload } = PAYMENT_METADATA;
  const payloadRule = { maxBytes: MESSAGE_LIMITS.paymentBytes, suggestedAction: 'Send the payment alone.' };
  checkJsonSize(message.metadata?.[payload], `message.metadata.${payload}`, payloadRule);
  checkHistoryLength(configuration?.historyLength, 'configuration.historyLength');
  checkModes(configuration?.acceptedOutputModes ?? []);
  checkUris(message.extensions);
  checkReferences(message.referenceTaskIds);
  // Extensions and references are validated but not used.
  return { ...message, role: Role.ROLE_USER, parts: parseParts(message.parts), extensions: [], referenceTaskIds: [] };
}

/** Validates the value of a data part. @throws OracleError INPUT_INVALID */
export function checkData(value: Record<string, unknown>, field: string): void {
  if (isNestedDeeper(value, MAX_CONTENT_DEPTH)) throw invalidMessageField(field, 'is nested too deeply', CALL_EXAMPLE);
  if (countJsonBytes(value) > MESSAGE_LIMITS.dataBytes) throw dataTooLarge(field);
}

/** @throws OracleError INPUT_INVALID */
export function checkId(id: string, field: string): void {
  if (typeof id === 'string' && ID_PATTERN.test(id)) return;
  const problem =
    id === '' ? 'is missing' : `must be 1 to ${MESSAGE_LIMITS.idCharacters} characters of letters, digits and . : @ + = / _ -`;
  throw invalidMessageField(field, problem, 'Use a UUID.');
}

/** @throws OracleError INPUT_INVALID */
export function checkHistoryLength(length: number | undefined, field = 'historyLength'): void {
  if (length === undefined || (Number.isInteger(length) && length >= 0)) return;
  throw invalidMessageField(field, 'must be a whole number from 0', 'Leave it out for the whole history.');
}

function parseParts(parts: readonly Part[]): Part[] {
  const { parts: maxParts, textBytes, dataBytes } = MESSAGE_LIMITS;
  const field = 'message.parts';
  if (parts.length === 0) throw invalidMessageField(field, 'is empty', 'Send a data part { "skill", "input" } or a text part.');
  if (parts.length > maxParts) throw invalidMessageField(field, `holds more than ${maxParts} parts`, 'Send fewer parts.');
  const checked = parts.map(parsePart);
  if (countContentBytes(checked, 'text') > textBytes)
    throw invalidMessageField(field, `holds more than ${textBytes} bytes of text`, 'Ask in a sentence, or send a data part.');
  if (countContentBytes(checked, 'data') > dataBytes) throw dataTooLarge(field);
  return checked;
}

function countContentBytes(parts: readonly Part[], kind: 'text' | 'data'): number {
  return parts.reduce((sum, { content }) => (content?.$case === kind ? sum + countJsonBytes(content.value) : sum), 0);
}

/** A string counts without its quotes. */
function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) - (typeof value === 'string' ? 2 : 0);
}

function dataTooLarge(field: string): OracleError {
  return invalidMessageField(field, `holds more than ${MESSAGE_LIMITS.dataBytes} bytes of data as JSON`, CALL_EXAMPLE);
}

/** Part metadata, file name and media type are dropped. */
function parsePart({ content }: Part, index: number): Part {
  const field = `message.parts.${index}`;
  if (content === undefined) throw invalidMessageField(field, 'has no content', 'Give the part a text or data.');
  if (content.$case === 'raw' || content.$case === 'url') {
    const suggestedAction = 'Send a data part { "skill", "input" } or a text part.';
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', `${field}: files are not read here`, { field, suggestedAction });
  }
  const isText = content.$case === 'text';
  const isValid = isText ? typeof content.value === 'string' : isPlainObject(content.value);
  if (!isValid) throw invalidMessageField(field, isText ? 'must be a text' : 'must hold an object', CALL_EXAMPLE);
  if (isNestedDeeper(content.value, MAX_CONTENT_DEPTH)) throw invalidMessageField(field, 'is nested too deeply', CALL_EXAMPLE);
  return { content, metadata: undefined, filename: '', mediaType: isText ? 'text/plain' : 'application/json' };
}

function checkMetadata(metadata: Record<string, unknown> | undefined, field: string): void {
  if (metadata === undefined) return;
  if (!isPlainObject(metadata)) throw invalidMessageField(field, 'must be an object', 'Leave it out.');
  checkJsonSize(metadata, field, { maxBytes: MESSAGE_LIMITS.metadataBytes, suggestedAction: 'Send less of it.' });
}

function checkJsonSize(value: unknown, field: string, { maxBytes, suggestedAction }: { maxBytes: number; suggestedAction: string }): void {
  if (value === undefined || (!isNestedDeeper(value, MAX_CONTENT_DEPTH) && countJsonBytes(value) <= maxBytes)) return;
  throw invalidMessageField(field, `is larger than ${maxBytes} bytes of JSON, or nested too deeply`, suggestedAction);
}

/** One supported mode is enough, because answers have both. Many 0.3 clients send `text`. */
function checkModes(accepted: readonly string[]): void {
  const isSupported = accepted.some((mode) => OUTPUT_MODES.includes(String(mode).split(';', 1)[0].trim().toLowerCase()));
  if (isSupported || accepted.length === 0) return;
  throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'Answers are in none of the modes that are accepted', {
    field: 'configuration.acceptedOutputModes',
    suggestedAction: `Accept ${MODES.join(' or ')}, or leave it out.`,
  });
}

function checkUris(uris: readonly string[]): void {
  if (uris.length <= MESSAGE_LIMITS.uris && uris.every((uri) => typeof uri === 'string' && uri.length <= MAX_URI_CHARACTERS)) return;
  const problem = `must be at most ${MESSAGE_LIMITS.uris} URIs of at most ${MAX_URI_CHARACTERS} characters`;
  throw invalidMessageField('message.extensions', problem, 'Name fewer.');
}

function checkReferences(ids: readonly string[]): void {
  const field = 'message.referenceTaskIds';
  const { references } = MESSAGE_LIMITS;
  if (ids.length > references) throw invalidMessageField(field, `names more than ${references} tasks`, 'Name fewer.');
  for (const id of ids) checkId(id, field);
}

function invalidMessageField(field: string, problem: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field} ${problem}`, { field, suggestedAction });
}
