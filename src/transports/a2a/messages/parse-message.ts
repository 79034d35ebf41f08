import { type Message, type Part, Role, type SendMessageRequest } from '@a2a-js/sdk';
import { MODES } from '../../../../agent-card/card/card.ts';
import { OracleError } from '../../../platform/errors.ts';
import { isNestedDeeper } from '../../../platform/validation/nesting.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import { PAYMENT_METADATA, removePaymentPayload } from '../payments/metadata.ts';

/**
 * Bounds of a message; what is larger is refused before anything is kept of it. Bytes are those of its JSON, as a task takes them
 * where it is kept and told: some characters are six there.
 */
export const MESSAGE_LIMITS = {
  parts: 20,
  textBytes: 4_000,
  dataBytes: 4_096,
  idCharacters: 128,
  metadataBytes: 2_048,
  /** Of a payment in the metadata; contract wallets may sign with their own evidence. */
  paymentBytes: 20_480,
  references: 10,
  uris: 20,
} as const;

const MAX_URI_CHARACTERS = 256;
const OUTPUT_MODES: readonly string[] = [...MODES, ...MODES.map((mode) => `${mode.split('/')[0]}/*`), '*/*', 'text'];
/** No skill's input has nearly as many levels. */
const MAX_CONTENT_DEPTH = 20;
const CALL_EXAMPLE = 'Send { "skill", "input" } as data.';
const ID_PATTERN = new RegExp(`^[\\w.:@+=/-]{1,${MESSAGE_LIMITS.idCharacters}}$`);

/**
 * The message of a request, bounded, and reduced to what the service reads and keeps.
 * @throws OracleError INPUT_INVALID naming the field, UNSUPPORTED_MEDIA_TYPE for a part that is neither text nor data, and where the
 * sender accepts neither
 */
export function parseMessage({ message, metadata, configuration }: SendMessageRequest): Message {
  if (message === undefined) throw invalidMessageField('message', 'is missing', 'Send a message with a messageId, a role and parts.');
  checkId(message.messageId, 'message.messageId');
  for (const field of ['taskId', 'contextId'] as const) if (message[field] !== '') checkId(message[field], `message.${field}`);
  if (message.role !== Role.ROLE_USER && message.role !== Role.ROLE_UNSPECIFIED) {
    throw invalidMessageField('message.role', 'must be that of the user', 'Send ROLE_USER, or "user" in protocol 0.3.');
  }
  checkMetadata(metadata, 'metadata');
  checkMetadata(removePaymentPayload(message).metadata, 'message.metadata');
  checkPayload(message.metadata?.[PAYMENT_METADATA.payload]);
  checkHistoryLength(configuration?.historyLength, 'configuration.historyLength');
  checkModes(configuration?.acceptedOutputModes ?? []);
  checkUris(message.extensions);
  checkReferences(message.referenceTaskIds);
  // Extensions and references are read by nobody here.
  return { ...message, role: Role.ROLE_USER, parts: parseParts(message.parts), extensions: [], referenceTaskIds: [] };
}

/** What somebody sends for a data part. @throws OracleError INPUT_INVALID */
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
  if (parts.length === 0) throw invalidMessageField('message.parts', 'is empty', 'Send a data part { "skill", "input" } or a text part.');
  if (parts.length > MESSAGE_LIMITS.parts)
    throw invalidMessageField('message.parts', `holds more than ${MESSAGE_LIMITS.parts} parts`, 'Send fewer parts.');
  const checked = parts.map(parsePart);
  if (countContentBytes(checked, 'text') > MESSAGE_LIMITS.textBytes) {
    throw invalidMessageField(
      'message.parts',
      `holds more than ${MESSAGE_LIMITS.textBytes} bytes of text`,
      'Ask in a sentence, or send a data part.',
    );
  }
  if (countContentBytes(checked, 'data') > MESSAGE_LIMITS.dataBytes) throw dataTooLarge('message.parts');
  return checked;
}

function countContentBytes(parts: readonly Part[], kind: 'text' | 'data'): number {
  return parts.reduce((sum, { content }) => (content?.$case === kind ? sum + countJsonBytes(content.value) : sum), 0);
}

/** Of a text without its quotes. */
function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) - (typeof value === 'string' ? 2 : 0);
}

function dataTooLarge(field: string): OracleError {
  return invalidMessageField(field, `holds more than ${MESSAGE_LIMITS.dataBytes} bytes of data as JSON`, CALL_EXAMPLE);
}

/** Without what the sender adds beside the content: nothing here reads it. */
function parsePart({ content }: Part, index: number): Part {
  const field = `message.parts.${index}`;
  if (content === undefined) throw invalidMessageField(field, 'has no content', 'Give the part a text or data.');
  if (content.$case === 'raw' || content.$case === 'url') {
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', `${field}: files are not read here`, {
      field,
      suggestedAction: 'Send a data part { "skill", "input" } or a text part.',
    });
  }
  const isRight = content.$case === 'text' ? typeof content.value === 'string' : isPlainObject(content.value);
  if (!isRight) throw invalidMessageField(field, content.$case === 'text' ? 'must be a text' : 'must hold an object', CALL_EXAMPLE);
  if (isNestedDeeper(content.value, MAX_CONTENT_DEPTH)) throw invalidMessageField(field, 'is nested too deeply', CALL_EXAMPLE);
  return { content, metadata: undefined, filename: '', mediaType: content.$case === 'text' ? 'text/plain' : 'application/json' };
}

function checkMetadata(metadata: Record<string, unknown> | undefined, field: string): void {
  if (metadata === undefined) return;
  if (!isPlainObject(metadata)) throw invalidMessageField(field, 'must be an object', 'Leave it out.');
  if (!isNestedDeeper(metadata, MAX_CONTENT_DEPTH) && countJsonBytes(metadata) <= MESSAGE_LIMITS.metadataBytes) return;
  throw invalidMessageField(
    field,
    `is larger than ${MESSAGE_LIMITS.metadataBytes} bytes of JSON, or nested too deeply`,
    'Send less of it.',
  );
}

function checkPayload(payload: unknown): void {
  if (payload === undefined || (!isNestedDeeper(payload, MAX_CONTENT_DEPTH) && countJsonBytes(payload) <= MESSAGE_LIMITS.paymentBytes))
    return;
  const field = `message.metadata.${PAYMENT_METADATA.payload}`;
  throw invalidMessageField(
    field,
    `is larger than ${MESSAGE_LIMITS.paymentBytes} bytes of JSON, or nested too deeply`,
    'Send the payment alone.',
  );
}

/** Any of the two will do: answers have both. `text` is what many senders of protocol 0.3 call it. */
function checkModes(accepted: readonly string[]): void {
  const fits = accepted.some((mode) => OUTPUT_MODES.includes(String(mode).split(';', 1)[0].trim().toLowerCase()));
  if (fits || accepted.length === 0) return;
  throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'Answers are in none of the modes that are accepted', {
    field: 'configuration.acceptedOutputModes',
    suggestedAction: `Accept ${MODES.join(' or ')}, or leave it out.`,
  });
}

function checkUris(uris: readonly string[]): void {
  if (uris.length <= MESSAGE_LIMITS.uris && uris.every((uri) => typeof uri === 'string' && uri.length <= MAX_URI_CHARACTERS)) return;
  throw invalidMessageField(
    'message.extensions',
    `must be at most ${MESSAGE_LIMITS.uris} URIs of at most ${MAX_URI_CHARACTERS} characters`,
    'Name fewer.',
  );
}

function checkReferences(ids: readonly string[]): void {
  const field = 'message.referenceTaskIds';
  if (ids.length > MESSAGE_LIMITS.references)
    throw invalidMessageField(field, `names more than ${MESSAGE_LIMITS.references} tasks`, 'Name fewer.');
  for (const id of ids) checkId(id, field);
}

function invalidMessageField(field: string, problem: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field} ${problem}`, { field, suggestedAction });
}
