import { type Message, type Part, Role, type SendMessageRequest, type Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { EXTENSION_URIS, MODES } from '../../agent-card/card.ts';
import { SKILLS } from '../../skills/index.ts';
import { findSkill, isForSale, parseCall, prepareCall, type SkillCall } from '../../skills/runner.ts';
import { parseText } from '../../skills/text.ts';
import type { Caller } from '../auth/caller.ts';
import { type ClientError, isOracleError, OracleError, toClientError } from '../errors.ts';
import { isNestedDeeper, isPlainObject, isWellFormedJson, parseInput, parseJsonOrNull } from '../platform/validation.ts';
import {
  dataPart,
  findPayableCall,
  getUser,
  type MessagePayment,
  PAYMENT_METADATA,
  type PayableCall,
  removePaymentPayload,
  textPart,
} from './protocol.ts';
import { getTaskSkill } from './task-store.ts';

/** What to do with a message; `note` says how a text was parsed. */
export type MessagePlan =
  | { do: 'call'; call: SkillCall; note?: string }
  /** Input is missing; `skill` is set if it is known. */
  | { do: 'ask'; skill?: string; parts: Part[] }
  /** The tier excludes the skill. */
  | { do: 'reject'; call: SkillCall; error: ClientError; note?: string }
  /** The tier excludes the skill (`error`), and the call can be paid for. */
  | { do: 'bill'; call: SkillCall; error: ClientError; note?: string }
  | { do: 'sell'; call: SkillCall; payment: MessagePayment & { do: 'submit' }; note?: string }
  | { do: 'decline'; skill: string };

const CALL_INPUT = z.strictObject({ skill: z.string().optional(), input: z.record(z.string(), z.unknown()).optional() });

interface PlanOptions {
  caller: Caller;
  /** Skill of earlier messages of the task. */
  skill?: string;
  payableCall?: PayableCall;
  payment?: MessagePayment;
  acceptsPaymentRequests?: boolean;
}

/** @param task undefined if the message opens one */
export function planMessage(message: Pick<Message, 'parts'>, task: Task | undefined, context: ServerCallContext): MessagePlan {
  return planParts(message, {
    caller: getUser(context).requestContext.caller,
    ...(task === undefined ? {} : { skill: getTaskSkill(task), payableCall: findPayableCall(task) }),
    payment: getPayment(context),
    acceptsPaymentRequests: isX402Activated(context),
  });
}

function getPayment(context: ServerCallContext): MessagePayment | undefined {
  return context.state.get(PAYMENT_METADATA.payload) as MessagePayment | undefined;
}

function isX402Activated({ requestedExtensions }: ServerCallContext): boolean {
  return requestedExtensions?.includes(EXTENSION_URIS.x402) === true;
}

/** Undefined until the skill is known. */
export function getPlannedSkill(plan: MessagePlan): string | undefined {
  return 'call' in plan ? plan.call.skill.id : plan.skill;
}

/** Deterministic for message, caller and task. @throws OracleError INPUT_INVALID naming the part, `skill` or the field of the input */
export function planParts({ parts }: Pick<Message, 'parts'>, options: PlanOptions): MessagePlan {
  const { payableCall, payment } = options;
  if (payableCall !== undefined && payment?.do === 'decline') return { do: 'decline', skill: payableCall.skill };
  // Parts beside a payment are ignored.
  if (payableCall !== undefined && payment !== undefined) return planCall(payableCall.skill, payableCall.input, options);
  const data = parts.flatMap((part, index) => {
    const value = findCall(part);
    return value === null ? [] : [{ value, index }];
  });
  const [first, second] = data;
  if (second !== undefined) {
    const suggestedAction = 'Send one skill call per message.';
    throw new OracleError('INPUT_INVALID', 'A message may have one data part', { field: `message.parts.${second.index}`, suggestedAction });
  }
  if (first !== undefined) {
    const call = parseInput(CALL_INPUT, first.value, { kind: 'data part field', root: 'data' });
    return planCall(call.skill ?? options.skill, call.input, options);
  }
  const texts = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
  const parsed = parseText(texts.join('\n'), SKILLS, options.skill);
  if (parsed === null) return { do: 'ask', parts: buildSkillQuestion() };
  const { skill } = parsed;
  if ('missing' in parsed) return { do: 'ask', skill, parts: [textPart(parsed.missing), dataPart({ example: getExample(skill) })] };
  const { input } = parsed;
  const note = `Understood as ${skill}. To ask exactly this, send a data part ${JSON.stringify({ skill, input })}.`;
  return { ...planCall(skill, input, options), note };
}

/** The call of a data part, or of a text part with its JSON, as text-only clients send it; null for plain text. */
function findCall({ content }: Part): object | null {
  if (content?.$case === 'data') return content.value;
  if (content?.$case !== 'text' || !content.value.trimStart().startsWith('{')) return null;
  const value = parseJsonOrNull(content.value) as { skill?: unknown } | null;
  return typeof value?.skill === 'string' ? value : null;
}

type CallPlan = Exclude<MessagePlan, { do: 'ask' } | { do: 'decline' }>;

function planCall(named: string | undefined, input: unknown, options: PlanOptions): CallPlan {
  const skill = findSkill(named);
  try {
    return { do: 'call', call: prepareCall(skill.id, input, options.caller) };
  } catch (error) {
    if (!isOracleError(error, 'UNAUTHENTICATED') && !isOracleError(error, 'TIER_REQUIRED')) throw error;
    const call = parseCall(skill, input);
    const clientError = toClientError(error);
    if (!isForSale(call, options.caller)) return { do: 'reject', call, error: clientError };
    if (options.payment?.do === 'submit') return { do: 'sell', call, payment: options.payment };
    if (options.acceptsPaymentRequests === true) return { do: 'bill', call, error: clientError };
    const suggestedAction = `${clientError.suggestedAction} ${PAYMENT_ADVICE}`;
    return { do: 'reject', call, error: { ...clientError, suggestedAction } };
  }
}

const PAYMENT_ADVICE = `Or pay for this answer: send the call with the header A2A-Extensions: ${EXTENSION_URIS.x402}, and the task returns the payment requirements in "${PAYMENT_METADATA.required}".`;

function buildSkillQuestion(): Part[] {
  const list = SKILLS.map(({ id, summary }) => `- ${id}: ${summary}.`);
  const example = getExample(SKILLS[0].id);
  return [
    textPart(`Which skill do you need?\n${list.join('\n')}\nReply with a text, or with a data part such as ${JSON.stringify(example)}.`),
    dataPart({ skills: SKILLS.map(({ id, summary, tier }) => ({ skill: id, summary, tier, example: getExample(id) })), example }),
  ];
}

function getExample(id: string): { skill: string; input: Record<string, unknown> } {
  return { skill: id, input: findSkill(id).examples[0].input };
}

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
  for (const name of ['taskId', 'contextId'] as const) if (message[name] !== '') checkId(message[name], `message.${name}`);
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
  const { references, uris } = MESSAGE_LIMITS;
  const areUris = message.extensions.every((uri) => typeof uri === 'string' && uri.length <= MAX_URI_CHARACTERS);
  if (message.extensions.length > uris || !areUris) {
    const problem = `must be at most ${uris} URIs of at most ${MAX_URI_CHARACTERS} characters`;
    throw invalidMessageField('message.extensions', problem, 'Name fewer.');
  }
  const field = 'message.referenceTaskIds';
  if (message.referenceTaskIds.length > references) throw invalidMessageField(field, `names more than ${references} tasks`, 'Name fewer.');
  for (const id of message.referenceTaskIds) checkId(id, field);
  // Extensions and references are validated but not used.
  return { ...message, role: Role.ROLE_USER, parts: parseParts(message.parts), extensions: [], referenceTaskIds: [] };
}

/** Validates the value of a data part. @throws OracleError INPUT_INVALID */
export function checkData(value: Record<string, unknown>, field: string): void {
  requireReadable(value, field);
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
  requireReadable(content.value, field);
  return { content, metadata: undefined, filename: '', mediaType: isText ? 'text/plain' : 'application/json' };
}

function requireReadable(value: unknown, field: string): void {
  if (isNestedDeeper(value, MAX_CONTENT_DEPTH)) throw invalidMessageField(field, 'is nested too deeply', CALL_EXAMPLE);
  if (!isWellFormedJson(value)) throw invalidMessageField(field, NOT_UNICODE, UNICODE_ADVICE);
}

const NOT_UNICODE = 'holds half a surrogate pair, which is no Unicode text';
const UNICODE_ADVICE = 'Cut texts between characters, not within one, and send it again.';

function checkMetadata(metadata: Record<string, unknown> | undefined, field: string): void {
  if (metadata === undefined) return;
  if (!isPlainObject(metadata)) throw invalidMessageField(field, 'must be an object', 'Leave it out.');
  checkJsonSize(metadata, field, { maxBytes: MESSAGE_LIMITS.metadataBytes, suggestedAction: 'Send less of it.' });
}

function checkJsonSize(value: unknown, field: string, { maxBytes, suggestedAction }: { maxBytes: number; suggestedAction: string }): void {
  if (value === undefined) return;
  if (isNestedDeeper(value, MAX_CONTENT_DEPTH) || countJsonBytes(value) > maxBytes)
    throw invalidMessageField(field, `is larger than ${maxBytes} bytes of JSON, or nested too deeply`, suggestedAction);
  if (!isWellFormedJson(value)) throw invalidMessageField(field, NOT_UNICODE, UNICODE_ADVICE);
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

function invalidMessageField(field: string, problem: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field} ${problem}`, { field, suggestedAction });
}
