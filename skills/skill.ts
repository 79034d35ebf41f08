import { z } from 'zod';
import type { Caller } from '../src/auth/caller.ts';
import type { PaidTier } from '../src/auth/tiers.ts';
import { formatMoney, type Offering } from '../src/commerce/offerings.ts';
import { type AnswerSample, SAMPLE_ANSWERS } from '../src/commerce/x402/bazaar.ts';
import type { Context } from '../src/context.ts';
import type { ErrorCode } from '../src/errors.ts';
import { DEFAULT_HORIZON, HORIZON_SCHEMA, recordHorizonInput } from '../src/forecast/horizon-input.ts';
import { isPlainObject, sanitizeText, toInlineJsonSchema, withInputRules } from '../src/platform/validation.ts';
import type { TextRules } from './text.ts';

type SkillExample = { say: string; input: Record<string, unknown> };

export interface Skill {
  /** Name on the wire (interface, section 4.5). */
  id: string;
  title: string;
  /** One sentence without a full stop. */
  summary: string;
  /** Constant text for agents: what the skill returns, how reliable it is, and its limits. */
  description: string;
  /** What it answers, in a few words of a caller, with `?` or `.` at their end: instructions to models list it. */
  question: string;
  /** Whether those instructions name it before all others. */
  askedFirst?: boolean;
  tags: readonly string[];
  /** `say` is understood as `input`. */
  examples: readonly [SkillExample, ...SkillExample[]];
  /** How plain text is understood. */
  fromText: TextRules<Record<string, unknown>>;
  /** Every field has a description; unknown fields are rejected. */
  input: z.ZodObject;
  /** Every field has a description with its unit; no transforms, no `.meta({ id })`. */
  output: z.ZodObject;
  /** What a short answer keeps of `output`. */
  outline: Outline;
  tier: 'public' | PaidTier;
  /** Sells a single answer to callers below the tier; null: none is sold. */
  offering: Offering | null;
  /** Tier and offering of a call whose input, not yet validated, asks for more or less than that; unset: they are the same for all calls. */
  termsOf?(input: Record<string, unknown>): SkillTerms;
  /** What a caller below the tier gets where a transport answers instead of rejecting the call; unset: it is rejected everywhere. */
  publicPart?: PublicPart;
  /** How long an answer stays valid. */
  freshness: { description: string; seconds: number };
  /** `rpc` for skills that read the chain, which are metered separately. */
  cost: 'normal' | 'rpc';
  /** Codes besides INPUT_INVALID, tier errors and RATE_LIMITED. */
  errors: readonly ErrorCode[];
  /** @param input output of the `input` schema */
  run(input: Record<string, unknown>, context: Context, caller: Caller): Promise<Record<string, unknown>>;
  /** The verdict, in at most 120 words: what is known, how surely, and what not to rely on. */
  formatText(output: Record<string, unknown>): string;
  /** Further lines of a short answer, such as the rows of a list; null for none. */
  formatRows?(output: Record<string, unknown>): string | null;
}

export type SkillTerms = Pick<Skill, 'tier' | 'offering'>;

/** The skill as transports see it, and with typed answers for those that show it in another form. */
type TypedSkill<Input extends z.ZodObject, Output extends z.ZodObject, Answer> = Omit<
  Skill,
  'fromText' | 'input' | 'output' | 'run' | 'formatText' | 'formatRows'
> & {
  fromText: TextRules<z.input<Input>>;
  input: Input;
  output: Output;
  run(input: z.output<Input>, context: Context, caller: Caller): Promise<Answer>;
  formatText(output: z.input<Output>): string;
  formatRows?(output: z.input<Output>): string | null;
};

/** Declares a skill; its schemas type `run` and `formatText`. */
export function defineSkill<Input extends z.ZodObject, Output extends z.ZodObject, Answer extends object = z.input<Output>>(
  definition: TypedSkill<Input, Output, Answer>,
): TypedSkill<Input, Output, Answer> {
  return definition;
}

/** `free`, or the tier and the price of a single answer. */
export function formatPrice({ tier, offering }: Pick<Skill, 'tier' | 'offering'>): string {
  if (tier === 'public') return 'free';
  const included = `included in the ${tier} tier`;
  if (offering === null) return included;
  return `${included}; ${formatMoney(offering.price)} for a single answer, paid by x402 with the call over REST, MCP or A2A, or at ${offering.resource?.path ?? '/'}${offering.sellsForecast ? '; HOLD is charged, too' : ''}`;
}

export const forecastHorizon = withInputRules(recordHorizonInput.prefault(DEFAULT_HORIZON), HORIZON_SCHEMA);

export const DATE_INPUT = z.iso.date('must be a date of the form YYYY-MM-DD');

type Schema = Record<string, unknown>;

/** Keywords of a listed member. Nested members show in the example, and would be most of the text. */
const KEPT = ['type', 'enum', 'description'];

/** A sample of an answer with the schema of its members. @param example members of the answer; others are left out */
export function buildAnswerSample(answer: z.ZodObject, example: Schema): AnswerSample {
  const shape = Object.fromEntries(Object.entries(answer.shape).filter(([name]) => name in example));
  const { properties } = toSkillJsonSchema(z.object(shape), 'input') as { properties: Record<string, Schema> };
  return {
    example: Object.fromEntries(Object.keys(shape).map((name) => [name, example[name]])),
    schema: { type: 'object', properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, shorten(one)])) },
  };
}

/** The sample of what a skill sells. */
export function buildSkillSample({ output, offering }: Pick<Skill, 'output' | 'offering'>): AnswerSample {
  return buildAnswerSample(output, SAMPLE_ANSWERS[offering?.name ?? ''] ?? {});
}

/** A member that may be null is listed with the type of its values. */
function shorten({ anyOf, ...schema }: Schema): Schema {
  const value = (anyOf as Schema[] | undefined)?.find(({ type }) => type !== 'null');
  return Object.fromEntries(Object.entries({ ...value, ...schema }).filter(([keyword]) => KEPT.includes(keyword)));
}

/**
 * JSON Schema (draft 2020-12) with single types, without patterns of formats and safe-integer bounds, which would be most of the text.
 * @param reused `ref`: a schema that recurs stands once, in `$defs`
 */
export function toSkillJsonSchema(
  schema: z.ZodObject,
  io: 'input' | 'output',
  { reused = 'inline' }: { reused?: 'inline' | 'ref' } = {},
): Record<string, unknown> {
  const options = { io, target: 'draft-2020-12', reused, override: removeRedundantKeywords } as const;
  const { '~standard': _, ...rest } = toInlineJsonSchema(schema, options);
  return withSingleTypes(rest);
}

function removeRedundantKeywords({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** Keywords that hold one schema, a list of schemas, or schemas by name; only those that zod emits. */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'not'];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const BY_NAME = ['properties', 'patternProperties', '$defs'];

/** Keywords without effect on validation. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'];
/** Keywords that apply to any type. */
const OF_ANY_TYPE = ['enum', 'const'];

/** Replaces lists of types by `anyOf`, because some MCP clients reject or drop them. */
export function withSingleTypes(schema: Schema): Schema {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, mapSubschemas(keyword, value)] as const);
  const mapped: Schema = Object.fromEntries(entries);
  return Array.isArray(mapped.type) ? splitTypes(mapped.type, mapped) : mapped;
}

function mapSubschemas(keyword: string, value: unknown): unknown {
  if (ONE.includes(keyword) && isPlainObject(value)) return withSingleTypes(value);
  if (LIST.includes(keyword)) return (value as Schema[]).map(withSingleTypes);
  if (!BY_NAME.includes(keyword)) return value;
  return Object.fromEntries(Object.entries(value as Record<string, Schema>).map(([name, one]) => [name, withSingleTypes(one)]));
}

function splitTypes(types: readonly unknown[], { type: _, ...schema }: Schema): Schema {
  const pick = (isKept: (keyword: string) => boolean) => Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKept(keyword)));
  const assertions = pick((keyword) => !ANNOTATIONS.includes(keyword));
  const ofNull = pick((keyword) => OF_ANY_TYPE.includes(keyword));
  const anyOf = types.map((type) => ({ type, ...(type === 'null' ? ofNull : assertions) }));
  return { anyOf, ...pick((keyword) => ANNOTATIONS.includes(keyword)) };
}

/** The short form of a skill's output, for readers with little room: fewer of its members, by the same names and types. */
interface Outline {
  schema: z.ZodObject;
  /** Shortens the lists of an output, before its other members are dropped. */
  cut?(output: Record<string, unknown>): Record<string, unknown>;
}

/** @throws ZodError for an output without a member of the outline */
export function toOutline({ schema, cut }: Outline, output: Record<string, unknown>): Record<string, unknown> {
  return schema.parse(cut === undefined ? output : cut(output));
}

/** Declares an outline; the output types `cut`. */
export function defineOutline<Output extends z.ZodObject>(
  _output: Output,
  outline: { schema: z.ZodObject; cut?(output: z.input<Output>): object },
): Outline {
  return outline as unknown as Outline;
}

/** `95 % interval 0.38 to 0.70`. */
export function formatInterval({ low, high }: { low: number; high: number }, digits = 2): string {
  return `95 % interval ${low.toFixed(digits)} to ${high.toFixed(digits)}`;
}

/** `2026-12-05 00:00 UTC` of an ISO 8601 time in UTC. */
export function formatInstant(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`;
}

/** `40 s`, `4 h`, `2 days`. */
export function formatAgeSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** Last line of a verdict: the source of the market data. */
export function formatSource(source: string): string {
  return `Market data: ${sanitizeText(source, 60)}${source.startsWith('simulated') ? ', no real market' : ''}.`;
}

/** The public part of an answer that the caller's tier excludes. Nothing in it differs between signals that the caller may not see. */
export interface PublicPart {
  /** Members of the input that ask for it alone, at the terms of the public. */
  input: Record<string, unknown>;
  output: z.ZodObject;
  outline: Outline;
  /** @param ways how the caller gets the rest, as clauses */
  formatText(part: Record<string, unknown>, ways: string): string;
}

/** The text up to a number of words; `...` marks a cut. */
export function limitWords(text: string, max: number): string {
  const words = text.split(/\s+/);
  return words.length <= max ? text : `${words.slice(0, max).join(' ')} ...`;
}
