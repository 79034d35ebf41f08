import { createHash } from 'node:crypto';
import { type Message, type Part, Role, type SendMessageRequest, type Task } from '@a2a-js/sdk';
import type { ServerCallContext, User } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { EXTENSION_URIS, MODES } from '../../agent-card/card.ts';
import { SKILLS } from '../../skills/index.ts';
import { findSkill, isForSale, parseCall, prepareCall, type SkillCall } from '../../skills/runner.ts';
import { parseText } from '../../skills/text.ts';
import type { RequestContext } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import { parseRefCode } from '../commerce/ledger.ts';
import { type ClientError, isOracleError, OracleError, toClientError } from '../errors.ts';
import { isNestedDeeper, isPlainObject, isWellFormedJson, parseInput, parseJsonOrNull } from '../platform/validation.ts';

/** Tasks are scoped to `userName`: wallet or address. A browser page is a user of its own, and cannot read tasks of others. */
export class AgentUser implements User {
  readonly requestContext: RequestContext;
  /** Decides the error format. */
  readonly binding: 'jsonrpc' | 'rest';
  readonly disconnectSignal: AbortSignal | undefined;

  constructor(requestContext: RequestContext, binding: 'jsonrpc' | 'rest', disconnectSignal?: AbortSignal) {
    this.requestContext = requestContext;
    this.binding = binding;
    this.disconnectSignal = disconnectSignal;
  }

  get isAuthenticated(): boolean {
    return this.requestContext.caller.wallet !== undefined;
  }

  get userName(): string {
    const { address, origin } = this.requestContext;
    if (this.isAuthenticated || origin === undefined) return this.rateLimitKey;
    return `page:${createHash('sha256').update(origin).digest('hex').slice(0, 32)}@${address}`;
  }

  /** Key of task and stream quotas. All pages at an address share one, because a client can name any origin. */
  get rateLimitKey(): string {
    const { caller, address, origin } = this.requestContext;
    if (caller.wallet !== undefined) return `wallet:${caller.wallet.toLowerCase()}`;
    return `${origin === undefined ? 'address' : 'pages'}:${address}`;
  }
}

export function getUser({ user }: ServerCallContext): AgentUser {
  if (user instanceof AgentUser) return user;
  throw new OracleError('INTERNAL', 'A call came in without its user');
}

/** Owner of the tasks that a call can access. The tenant of the request is ignored, so it cannot widen the scope. */
export function getOwner(context: ServerCallContext): string {
  return getUser(context).userName;
}

/** The same for a missing task and for a task of another owner, so that ids cannot be probed. */
export function taskNotFound(): OracleError {
  const suggestedAction = 'Use the token or address that sent the task; ListTasks of A2A 1.0 lists your tasks.';
  return new OracleError('NOT_FOUND', 'Task not found', { field: 'id', suggestedAction });
}

export function getTaskSkill({ metadata }: Pick<Task, 'metadata'>): string | undefined {
  return typeof metadata?.skill === 'string' ? metadata.skill : undefined;
}

/** Message metadata of the x402 extension, and our additions. */
export const PAYMENT_METADATA = {
  status: 'x402.payment.status',
  required: 'x402.payment.required',
  payload: 'x402.payment.payload',
  receipts: 'x402.payment.receipts',
  error: 'x402.payment.error',
  /** `PaymentRequired` of x402 version 2; the member of the extension has version 1. */
  requiredV2: 'bitcoin-signal-oracle/payment-required',
  /** Settlement and signed receipt. */
  receipt: 'bitcoin-signal-oracle/receipt',
  ref: 'bitcoin-signal-oracle/ref',
} as const;

/** The call that a task awaits payment for; undefined for a task that never required one. */
export function findPayableCall({ metadata }: Pick<Task, 'metadata'>): { skill: string; input: Record<string, unknown> } | undefined {
  const { skill, input } = metadata ?? {};
  return typeof skill === 'string' && isPlainObject(input) ? { skill, input } : undefined;
}

export function getReceipts(task: Pick<Task, 'metadata'> | undefined): object[] {
  const receipts: unknown = task?.metadata?.[PAYMENT_METADATA.receipts];
  return Array.isArray(receipts) ? receipts : [];
}

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

export function dataPart(value: Record<string, unknown>): Part {
  return { content: { $case: 'data', value }, mediaType: 'application/json', filename: '', metadata: undefined };
}

export function errorParts(error: ClientError): Part[] {
  return [textPart(`${error.message}. ${error.suggestedAction}`), dataPart({ ...error })];
}

type MessagePayment = { do: 'submit'; payload: Record<string, unknown>; ref: unknown } | { do: 'decline' };

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
  payableCall?: ReturnType<typeof findPayableCall>;
  payment?: MessagePayment;
  acceptsPaymentRequests?: boolean;
}

/** @param task undefined if the message opens one */
export function planMessage(message: Pick<Message, 'parts'>, task: Task | undefined, context: ServerCallContext): MessagePlan {
  return planParts(message, {
    caller: getUser(context).requestContext.caller,
    ...(task === undefined ? {} : { skill: getTaskSkill(task), payableCall: findPayableCall(task) }),
    payment: context.state.get(PAYMENT_METADATA.payload) as MessagePayment | undefined,
    acceptsPaymentRequests: context.requestedExtensions?.includes(EXTENSION_URIS.x402) === true,
  });
}

/** Keeps the payment of a message for its plan. @returns the message without the payload @throws OracleError INPUT_INVALID naming the member */
export function acceptPayment(message: Message, context: ServerCallContext): Message {
  context.state.set(PAYMENT_METADATA.payload, parsePayment(message));
  return removePaymentPayload(message);
}

function parsePayment({ metadata }: Pick<Message, 'metadata'>): MessagePayment | undefined {
  const { [PAYMENT_METADATA.status]: status, [PAYMENT_METADATA.payload]: payload, [PAYMENT_METADATA.ref]: ref } = metadata ?? {};
  if (status === undefined && payload === undefined) return undefined;
  if (status === 'payment-rejected') return { do: 'decline' };
  const rule = 'must be an object: the PaymentPayload that an x402 client signs for the requirements of the task';
  if (status !== 'payment-submitted')
    throw invalidMessageField(paymentField('status'), 'must be "payment-submitted" or "payment-rejected"', PAYMENT_ACTION);
  if (!isPlainObject(payload)) throw invalidMessageField(paymentField('payload'), rule, PAYMENT_ACTION);
  if (ref !== undefined) parseRefCode(typeof ref === 'string' ? ref : '');
  return { do: 'submit', payload, ref };
}

const paymentField = (member: keyof typeof PAYMENT_METADATA) => `message.metadata.${PAYMENT_METADATA[member]}`;

const PAYMENT_ACTION = `Send "${PAYMENT_METADATA.status}": "payment-submitted" with "${PAYMENT_METADATA.payload}", or "payment-rejected" to end the task.`;

/** Drops the signed payload before a message is stored or returned: a reader could submit it in place of the payer. */
function removePaymentPayload(message: Message): Message {
  if (message.metadata?.[PAYMENT_METADATA.payload] === undefined) return message;
  const { [PAYMENT_METADATA.payload]: _, ...metadata } = message.metadata;
  return { ...message, metadata };
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
  const payload = message.metadata?.[PAYMENT_METADATA.payload];
  checkJsonSize(payload, paymentField('payload'), { maxBytes: MESSAGE_LIMITS.paymentBytes, suggestedAction: 'Send the payment alone.' });
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
  requireDataBytes(countJsonBytes(value), field);
}

function requireDataBytes(bytes: number, field: string): void {
  const { dataBytes } = MESSAGE_LIMITS;
  if (bytes > dataBytes) throw invalidMessageField(field, `holds more than ${dataBytes} bytes of data as JSON`, CALL_EXAMPLE);
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
  const { parts: maxParts, textBytes } = MESSAGE_LIMITS;
  const field = 'message.parts';
  if (parts.length === 0) throw invalidMessageField(field, 'is empty', 'Send a data part { "skill", "input" } or a text part.');
  if (parts.length > maxParts) throw invalidMessageField(field, `holds more than ${maxParts} parts`, 'Send fewer parts.');
  const checked = parts.map(parsePart);
  if (countContentBytes(checked, 'text') > textBytes)
    throw invalidMessageField(field, `holds more than ${textBytes} bytes of text`, 'Ask in a sentence, or send a data part.');
  requireDataBytes(countContentBytes(checked, 'data'), field);
  return checked;
}

function countContentBytes(parts: readonly Part[], kind: 'text' | 'data'): number {
  return parts.reduce((sum, { content }) => (content?.$case === kind ? sum + countJsonBytes(content.value) : sum), 0);
}

/** A string counts without its quotes. */
function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) - (typeof value === 'string' ? 2 : 0);
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
