import { type Message, type Part, Role, type SendMessageRequest, type Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { EXTENSION_URIS, MODES } from '../../agent-card/card.ts';
import { SKILLS } from '../../skills/index.ts';
import { findSkill, isForSale, parseCall, prepareCall, type SkillCall } from '../../skills/runner.ts';
import type { Caller } from '../auth/caller.ts';
import { type ClientError, isOracleError, OracleError, toClientError } from '../errors.ts';
import { REGIME_NAMES, type Regime } from '../forecast/regime.ts';
import { isNestedDeeper, isPlainObject, isWellFormedJson, parseInput, parseJsonOrNull } from '../platform/validation.ts';
import {
  dataPart,
  findPayableCall,
  getPayment,
  getUser,
  isX402Activated,
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
  const parsed = parseText(texts.join('\n'), options.skill);
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

/** A text as a skill call, or as a skill whose input is incomplete. */
type TextCall = { skill: string; input: Record<string, unknown> } | { skill: string; missing: string };

/** `after` is looked for behind the first match of `word`: one pattern with both would take quadratic time. */
type Keyword = readonly [weight: number, word: RegExp, after?: RegExp];

/** Weighted keywords, each counted once. Ordered by priority: of equal scores the later skill wins. */
const KEYWORDS: readonly { skill: string; words: readonly Keyword[] }[] = [
  {
    skill: 'get_market_context',
    words: [
      [3, /\b(?:fear|greed|sentiment|etfs?|inflows?|outflows?|macro|dxy|dollar|s&p|sp ?500|stocks|gold|pmi|regime)\b/],
      [3, /\bmarkets?\b/],
      [2, /\b(?:price|cost|worth|trading at|how much)\b/],
      [2, /\bcontext\b/],
    ],
  },
  {
    skill: 'predict_btc_direction',
    words: [
      [3, /\b(?:forecast|predict(?:ion)?|outlook|signal|direction)\b/],
      [3, /\b(?:will|going to|go(?:es|ing)?|head(?:ed|ing)?|move)\b/, /\b(?:up|down|rise|fall|drop|higher|lower|next|tomorrow|week)\b/],
      [3, /\bwhere\b/, /\b(?:going|heading|headed)\b/],
      [3, /\b(?:up or down|bull(?:ish)?|bear(?:ish)?|long or short|buy|sell)\b/],
      [3, /\bwhat (?:do|does|did) (?:it|you|the (?:oracle|model)) (?:say|think|expect|see)\b/],
      [1, /\b(?:next week|tomorrow|coming days|over the next)\b/],
    ],
  },
  {
    skill: 'get_track_record',
    words: [
      [7, /\b(?:track record|score ?card|hit rate|win rate|brier|calibrat\w+|statistics|stats)\b/],
      [7, /\b(?:accura\w+|performance|how (?:good|reliable|often|well|many)|right so far|past (?:forecasts|predictions|results))\b/],
      [4, /\b(?:history|results|record|won|lost|wins|losses|calls)\b/],
      [4, /\b(?:were|was|been) (?:right|wrong|correct)\b/],
      [7, /\bhow (?:did|have) you (?:do|done|fare|perform)\w*\b/],
      [7, /\b(?:any good|worth (?:it|listening|following|trusting|paying)|trust(?:worthy)?|reliable|turned out)\b/],
    ],
  },
  {
    skill: 'verify_prediction',
    words: [
      [7, /\b(?:verif(?:y|ied|ies|ication)|authentic\w*|tamper\w*|genuine)\b/],
      [5, /\b(?:check|prove|valid(?:ate)?|audit)\b/],
      [5, /\b(?:made|committed) (?:before|in time|on time)\b/],
      [4, /\b(?:unchanged|unaltered|altered)\b/],
      [2, /\b(?:on[- ]chain|attest\w*|commitment|proof)\b/],
      [20, /\b0x[0-9a-f]{64}\b/],
      [20, /\b\d{4}-\d{2}-\d{2}:[1-9]d\b/],
      [2, /\b\d{4}-\d{2}-\d{2}\b/],
    ],
  },
];

/** What a text says that it does not want. */
const EXCLUDED = /\b(?:without|no) (?:an? |any |the )?(?:forecast|prediction|signal)s?\b/g;

/** Fixed rules: equal texts give equal calls. Null if the text names no skill and there is no `previous` one. */
export function parseText(text: string, previous?: string): TextCall | null {
  const lower = normalizeDates(text.toLowerCase());
  const named = SKILLS.find(({ id }) => lower.includes(id))?.id;
  const skill = named ?? findBestSkill(lower.replace(EXCLUDED, '')) ?? previous;
  if (skill === undefined) return null;
  if (skill === 'verify_prediction') return parseVerification(lower);
  const filters = { regime: findRegime(lower), status: findStatus(lower), pageSize: findPageSize(lower) };
  const fields = { horizon: findHorizon(lower), ...findDateRange(lower), ...filters, include: findSections(lower) };
  return { skill, input: pickSkillFields(skill, fields) };
}

function findBestSkill(text: string): string | undefined {
  const scores = KEYWORDS.map(({ skill, words }) => ({
    skill,
    score: words.reduce((sum, keyword) => (isFound(text, keyword) ? sum + keyword[0] : sum), 0),
  }));
  const best = scores.reduce((one, other) => (other.score >= one.score ? other : one));
  return best.score > 0 ? best.skill : undefined;
}

function isFound(text: string, [, word, after]: Keyword): boolean {
  const found = word.exec(text);
  return found !== null && (after === undefined || after.test(text.slice(found.index + found[0].length)));
}

function parseVerification(text: string): TextCall {
  const skill = 'verify_prediction';
  const [uid] = /\b0x[0-9a-f]{64}\b/.exec(text) ?? [];
  if (uid !== undefined) return { skill, input: { uid } };
  const [predictionId] = /\b\d{4}-\d{2}-\d{2}:[1-9]d\b/.exec(text) ?? [];
  if (predictionId !== undefined) return { skill, input: { predictionId } };
  const [date] = findDates(text);
  const missing =
    'Which forecast should be verified? Send its date (YYYY-MM-DD), its id (e.g. 2026-01-05:7d) or the uid of its attestation (0x and 64 hex digits).';
  if (date === undefined) return { skill, missing };
  return { skill, input: pickSkillFields(skill, { date, horizon: findHorizon(text) }) };
}

const NUMBERS: Record<string, number> = { a: 1, an: 1, one: 1, two: 2, three: 3, seven: 7 };

/** `2d`, `3 days`, `three-day`, `a week`, `next week`, `tomorrow`. */
function findHorizon(text: string): string | undefined {
  const [, count, unit] = /\b(\d{1,3}|(?:an?|one|two|three|seven)(?=[ -]))[ -]?(d|days?|w|weeks?)\b/.exec(text) ?? [];
  if (count !== undefined) return `${(NUMBERS[count] ?? Number(count)) * (unit.startsWith('w') ? 7 : 1)}d`;
  if (/\b(?:this|next|the|coming|per)? ?(?:week|weekly)\b/.test(text)) return '7d';
  return undefined;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = `(${MONTHS.join('|')})[a-z]{0,6}\\.?`;
const DAY_FIRST = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)? (?:of )?${MONTH},? (\\d{4})\\b`, 'g');
const MONTH_FIRST = new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})\\b`, 'g');

/** `5 January 2026` and `January 5th, 2026` as `2026-01-05`. */
function normalizeDates(text: string): string {
  const iso = (year: string, month: string, day: string) =>
    `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day.padStart(2, '0')}`;
  return text
    .replace(DAY_FIRST, (_, day: string, month: string, year: string) => iso(year, month, day))
    .replace(MONTH_FIRST, (_, month: string, day: string, year: string) => iso(year, month, day));
}

function findDateRange(text: string): { from?: string; to?: string } {
  const [from, to] = findDates(text).sort();
  if (to !== undefined) return { from, to };
  if (from === undefined) return {};
  return /\b(?:until|till|before|up to|to \d{4}-)/.test(text) ? { to: from } : { from };
}

function findDates(text: string): string[] {
  return (text.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? []).slice(0, 2);
}

const SECTIONS: Record<string, RegExp> = {
  price: /\b(?:price|cost|worth|trading at|how much)\b/,
  sentiment: /\b(?:fear|greed|sentiment)\b/,
  flows: /\b(?:etfs?|inflows?|outflows?|flows?)\b/,
  macro: /\b(?:macro|dxy|dollar|s&p|sp ?500|stocks|gold|pmi)\b/,
  regime: /\bregime\b/,
};

/** Undefined, which means all, if the text names none. */
function findSections(text: string): string[] | undefined {
  const named = Object.entries(SECTIONS).flatMap(([section, words]) => (words.test(text) ? [section] : []));
  return named.length === 0 ? undefined : named;
}

/** Keeps the fields that the skill declares and the text contains. */
function pickSkillFields(skill: string, fields: Record<string, unknown>): Record<string, unknown> {
  const known = SKILLS.find(({ id }) => id === skill)?.input.shape ?? {};
  return Object.fromEntries(Object.entries(fields).filter(([field, value]) => value !== undefined && field in known));
}

/** By name. CHOP also has everyday synonyms. */
const REGIME_PATTERNS = REGIME_NAMES.map((regime) => {
  const name = regime === 'DEFAULT' ? 'regime default|default regime' : regime.toLowerCase().replace('_', '[ _-]');
  return { regime, pattern: new RegExp(`\\b(?:${name}${regime === 'CHOP' ? '|choppy|sideways' : ''})\\b`) };
});

function findRegime(text: string): Regime | undefined {
  return REGIME_PATTERNS.find(({ pattern }) => pattern.test(text))?.regime;
}

const SELECTION_PATTERN = /\b(?:which|show|list|only)\b/;
const OUTCOME_PATTERNS = {
  WIN: /\b(?:(?:were|was|been|went) (?:right|correct)|won|wins)\b/,
  LOSS: /\b(?:wrong|lost|losses)\b/,
};

/** By name. Other words count only in a request for a list, because questions for a number contain them too. */
function findStatus(text: string): string | undefined {
  const [, name] = /\bstatus (win|loss|hold|void|pending)\b/.exec(text) ?? [];
  if (name !== undefined) return name.toUpperCase();
  if (!SELECTION_PATTERN.test(text)) return undefined;
  const named = Object.entries(OUTCOME_PATTERNS).flatMap(([status, pattern]) => (pattern.test(text) ? [status] : []));
  return named.length === 1 ? named[0] : undefined;
}

/** `the last 10`, unless a unit of time follows. */
function findPageSize(text: string): number | undefined {
  const [, count] = /\b(?:last|latest|newest) (\d{1,3})\b(?![ -]?(?:d|days?|w|weeks?|months?)\b)/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count);
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
