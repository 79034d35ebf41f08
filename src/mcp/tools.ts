import * as mcp from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ENDPOINTS, IDENTITY } from '../../agent-card/endpoints.ts';
import { SKILLS } from '../../skills/index.ts';
import {
  findSkill,
  formatOffer,
  getPublicPart,
  getTerms,
  isForSale,
  type PaidCalls,
  prepareCall,
  preparePublicCall,
  type RunSkill,
  type SkillAnswer,
  type SoldAnswer,
} from '../../skills/runner.ts';
import { buildSkillSample, formatPrice, type Skill, type SkillTerms, toOutline, toSkillJsonSchema } from '../../skills/skill.ts';
import type { RequestContext } from '../auth/auth.ts';
import { PAYING_CALLER } from '../auth/caller.ts';
import { formatTierRequirement, type PaidTier } from '../auth/tiers.ts';
import { type BazaarDeclaration, declareMcpTool } from '../commerce/x402/bazaar.ts';
import { toFailedSettlementResponse, toSaleResponse, toSettlementResponse } from '../commerce/x402/sales.ts';
import { createPaymentRequired, type PaymentQuote, type PaymentRequired, PaymentRequiredError } from '../commerce/x402/terms.ts';
import { type ClientError, isOracleError, OracleError, toClientError } from '../errors.ts';
import { type AppView, findToolView } from '../page/mcp-app.ts';
import { joinUrl } from '../platform/service-client.ts';
import { getActiveTrace, inSpan, parseTraceparent } from '../platform/tracing.ts';
import { parseInput } from '../platform/validation.ts';
import { type CallPayment, type McpBackend, type McpPayments, type McpServerOptions, META_KEYS, sessions } from './protocol.ts';

/** Requests are repeated in errors up to this length. */
const MAX_QUOTED_CHARACTERS = 300;

export function truncate(text: string): string {
  return text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}...` : text;
}

/** Name, declaration and handler of each tool. */
export function buildTools(options: McpServerOptions) {
  const listWays = createAccessWays(options);
  return SKILLS.map((skill) => {
    const call = async (args: Fields, context: mcp.ServerContext): Promise<mcp.CallToolResult> => {
      const { backend, onError } = sessions.getStore()!;
      try {
        const { input, form, pays } = splitToolInput(isPayable(skill, options.payments), args);
        const payment = getCallPayment(context, pays);
        if (options.payments !== 'call') requireNoPayment(payment.payment);
        const answer = () => answerCall({ skill, backend, input, payment }, listWays);
        return toToolResult(await inMessageTrace(`tools/call ${skill.id}`, context, answer), form);
      } catch (error) {
        if (!isOracleError(error)) onError?.(error);
        return toToolError(error, { ...options, isCurrentRevision: isCurrentRevision(context) });
      }
    };
    return [skill.id, declareTool(skill, options), call] as const;
  });
}

/** Runs the work of a message in the trace that its `_meta` names, else in that of its HTTP request. */
export function inMessageTrace<T>(name: string, { mcpReq }: Pick<mcp.ServerContext, 'mcpReq'>, work: () => Promise<T>): Promise<T> {
  const caller = parseTraceparent(mcpReq._meta?.[META_KEYS.traceparent]);
  // A client that sends both has made one of the other: the span of the HTTP request stands between.
  const isOther = caller !== null && caller.traceId !== getActiveTrace()?.traceId;
  return inSpan({ name, parent: isOther ? caller : undefined, isFromClient: true }, work);
}

/** A payment that nothing here takes is rejected, so that its client does not take the answer for a paid one. */
function requireNoPayment(payment: unknown): void {
  if (payment === undefined || payment === null) return;
  const suggestedAction = `Call without _meta["${META_KEYS.payment}"]: nothing was charged.`;
  throw new OracleError('NOT_IMPLEMENTED', 'This connection takes no payment', { field: META_KEYS.payment, suggestedAction });
}

interface ToolCall {
  skill: Skill;
  backend: McpBackend;
  input: Record<string, unknown>;
  payment: CallPayment;
}

/** A missing tier is answered, not rejected, except for clients that pay: x402 takes payment requirements from an error. */
async function answerCall(call: ToolCall, listWays: ListAccessWays): Promise<ToolAnswer> {
  const { skill, backend, input, payment } = call;
  try {
    return toToolAnswer(call, await backend.run(skill.id, input, payment), listWays);
  } catch (error) {
    if (!isTierError(error) || error instanceof PayableError) throw error;
    return readGatedAnswer(call, error, listWays);
  }
}

function getCallPayment({ mcpReq }: mcp.ServerContext, pays: boolean): CallPayment {
  const { [META_KEYS.payment]: payment, [META_KEYS.ref]: ref } = mcpReq._meta ?? {};
  const envelope: Record<string, unknown> = mcpReq.envelope ?? {};
  const wantsQuote = pays || declaresX402(envelope[mcp.CLIENT_CAPABILITIES_META_KEY]);
  return { payment, ref, wantsQuote };
}

/** Identifier of x402 among the extensions in a client's capabilities (x402, specs/transports-v2/mcp.md). */
const X402_EXTENSION = 'org.x402/payment';

function declaresX402(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, unknown> };
  return typeof extensions === 'object' && extensions !== null && X402_EXTENSION in extensions;
}

/** Revision 2026-07-28 and later carry the protocol version in each request. */
function isCurrentRevision({ mcpReq }: mcp.ServerContext): boolean {
  return mcpReq.envelope !== undefined && mcp.PROTOCOL_VERSION_META_KEY in mcpReq.envelope;
}

/**
 * The answer to a caller whose tier excludes the skill: what is public, and the ways to the rest. @throws OracleError INPUT_INVALID, the
 * rejection where the skill has no public part, and what its reading throws
 */
async function readGatedAnswer({ skill, backend, input }: ToolCall, rejection: OracleError, listWays: ListAccessWays): Promise<ToolAnswer> {
  const { publicPart } = skill;
  const call = preparePublicCall({ skill, input });
  if (call === null || publicPart === undefined) throw rejection;
  const { output: part } = await backend.run(skill.id, call.input);
  const ways = listWays(getTerms(skill, input), String(part.resolvesAt));
  const named = { ways: ways.map(({ way, how }) => ({ way, how })) };
  return {
    output: { ...part, ...named },
    outline: { ...toOutline(publicPart.outline, part), ...named },
    text: publicPart.formatText(part, joinClauses(ways)),
    rows: [`${rejection.message}. Ways to the forecast:`, ...ways.map(({ how }, index) => `${index + 1}. ${how}`)].join('\n'),
  };
}

const ACCESS_WAYS = z
  .array(z.object({ way: z.string(), how: z.string() }))
  .optional()
  .describe('How to get what is hidden: each way is enough');

/** One way to an answer that the caller's tier excludes. */
interface AccessWay {
  way: string;
  how: string;
  /** The same as a clause of a sentence. */
  clause: string;
}

const joinClauses = (ways: readonly AccessWay[]): string =>
  `${ways
    .slice(0, -1)
    .map(({ clause }) => clause)
    .join(', ')}, or ${ways.at(-1)?.clause}`;

/** Constant for all forecasts that end at the same time. @param resolvesAt ISO 8601 */
type ListAccessWays = (terms: SkillTerms, resolvesAt: string) => AccessWay[];

function createAccessWays({ payments, ...address }: TokenAdviceOptions & Pick<McpServerOptions, 'payments'>): ListAccessWays {
  const advice = formatTokenAdvice(address);
  const payHere = `Call again with {"${ACCESS_ARGUMENT}":"${PAY}"} from an x402 client: the result has the payment requirements.`;
  return ({ tier, offering }, resolvesAt) => {
    const signIn = { way: 'sign in', how: advice, clause: `sign in with a wallet that holds ${formatTierRequirement(tier as PaidTier)}` };
    const clause = `wait until ${resolvesAt.slice(0, 10)}`;
    const wait = { way: 'wait', how: `It becomes public with its outcome, within hours after ${resolvesAt}.`, clause };
    const offer = formatOffer(offering);
    if (payments === 'off' || offer === null) return [signIn, wait];
    const how = `${offer.price}. ${payments === 'call' ? payHere : formatPaymentElsewhere(offering, address.publicUrl)}`;
    return [signIn, { way: 'pay', how, clause: `pay ${offer.price} for this answer by x402` }, wait];
  };
}

function formatPaymentElsewhere(offering: Skill['offering'], publicUrl: string): string {
  const where = offering?.resource;
  return `This connection carries no payment: buy a single answer by x402${where ? ` at ${where.method} ${joinUrl(publicUrl, where.path)}` : ''}.`;
}

type TokenAdviceOptions = Pick<McpServerOptions, 'publicUrl' | 'accountUrl' | 'howToSendToken'>;

/** How to get an access token and where to send it. */
function formatTokenAdvice({ publicUrl, accountUrl, howToSendToken }: TokenAdviceOptions): string {
  const login = joinUrl(publicUrl, '/api/svc/oracle/verify');
  const inAssistant = `In an assistant: ask the user to replace the address of this server by ${accountUrl}, which signs in with a wallet.`;
  return [
    ...(accountUrl === undefined ? [] : [inAssistant]),
    `A wallet that holds ${formatTierRequirement('basic')} makes an API key at ${joinUrl(publicUrl, '/access')}, or gets a token for 30 minutes from POST ${login}`,
    '(body: wallet, timestamp, and its signature of "Verify svc balance: <wallet>:<timestamp>").',
    howToSendToken ?? `Send it to ${joinUrl(publicUrl, ENDPOINTS.mcp)} as the header "Authorization: Bearer <token>".`,
  ].join(' ');
}

interface ToolErrorOptions extends TokenAdviceOptions {
  /** Revision 2026-07-28 or later. */
  isCurrentRevision?: boolean;
}

/** An answer in all its forms; `form` chooses. */
interface ToolAnswer {
  output: Record<string, unknown>;
  /** The short form of `output`. */
  outline: Record<string, unknown>;
  /** The verdict. */
  text: string;
  /** Further lines of a summary. */
  rows: string | null;
  sale?: Pick<SoldAnswer, 'payment' | 'receipt' | 'x402Receipt'>;
}

/** What was sold is delivered whole, because the receipt is for its hash. */
function toToolAnswer(call: ToolCall, answer: SkillAnswer | SoldAnswer, listWays: ListAccessWays): ToolAnswer {
  const { skill } = call;
  const { output, text } = answer;
  const part = getPublicPart(call);
  if (part !== null) {
    const ways = listWays(getTerms(skill, {}), String(output.resolvesAt));
    return { output, outline: toOutline(part.outline, output), text: part.formatText(output, joinClauses(ways)), rows: null };
  }
  const rows = skill.formatRows?.(output) ?? null;
  if (!('receipt' in answer)) return { output, outline: toOutline(skill.outline, output), text, rows };
  const { payment, receipt, x402Receipt } = answer;
  return { output, outline: output, text, rows, sale: { payment, receipt, x402Receipt } };
}

/** The verdict first. A full answer repeats its data as JSON text for clients that ignore `structuredContent`. Paid ones carry their receipt. */
export function toToolResult({ output, outline, text, rows, sale }: ToolAnswer, form: Form): mcp.CallToolResult {
  const more = form === 'full' ? JSON.stringify(output) : rows;
  return {
    content: [text, ...(more === null ? [] : [more])].map((one) => ({ type: 'text', text: one })),
    structuredContent: form === 'full' ? output : outline,
    ...(sale && {
      _meta: {
        [META_KEYS.paymentResponse]: toSettlementResponse(sale, `eip155:${sale.receipt.domain.chainId}`),
        [META_KEYS.receipt]: toSaleResponse({ payment: sale.payment, receipt: sale.receipt }),
      },
    }),
  };
}

/**
 * Error as text for models and as data for programs. x402 clients expect payment requirements in the first content item and in
 * `structuredContent`; clients of older revisions validate the latter against the output schema, so they do not get it.
 */
export function toToolError(error: unknown, options: ToolErrorOptions): mcp.CallToolResult {
  const required = toPaymentRequired(error);
  const clientError = addTokenAdvice(toClientError(error), { ...options, isPayable: required !== undefined });
  const text = { type: 'text', text: formatToolError(clientError) } as const;
  const failure = { isError: true, _meta: { [META_KEYS.error]: clientError, ...buildUnsettledMeta(error) } };
  if (required === undefined) return { ...failure, content: [text] };
  const content = [{ type: 'text', text: JSON.stringify(required) } as const, text];
  return { ...failure, content, ...(options.isCurrentRevision === true ? { structuredContent: { ...required } } : {}) };
}

/** For a payment that was verified but not settled. */
function buildUnsettledMeta(error: unknown): Record<string, unknown> {
  if (!(error instanceof PaymentRequiredError) || error.unsettledOf === undefined) return {};
  const { unsettledOf: payer, x402Code, quote } = error;
  return { [META_KEYS.paymentResponse]: toFailedSettlementResponse({ payer, x402Code }, quote.requirements.network) };
}

const PAYMENT_ADVICE = `Sign the payment requirements in the first text of this result, and repeat the call with the payment in _meta["${META_KEYS.payment}"].`;

/** A caller without a token learns where to get one. */
function addTokenAdvice(clientError: ClientError, { isPayable, ...address }: ToolErrorOptions & { isPayable: boolean }): ClientError {
  const action = clientError.code === 'UNAUTHENTICATED' ? formatTokenAdvice(address) : clientError.suggestedAction;
  if (!isPayable) return { ...clientError, suggestedAction: action };
  const payment = clientError.code === 'PAYMENT_REQUIRED' ? PAYMENT_ADVICE : `Or pay for this answer. ${PAYMENT_ADVICE}`;
  return { ...clientError, suggestedAction: `${action} ${payment}` };
}

function formatToolError({ code, message, suggestedAction, field, retryable, retryAfterSeconds }: ClientError): string {
  const lines = [`${code}: ${message}`];
  if (field !== undefined) lines.push(`Field: ${field}`);
  lines.push(`What to do: ${suggestedAction}`);
  if (retryAfterSeconds !== undefined) lines.push(`Try again after ${retryAfterSeconds} seconds.`);
  else if (retryable) lines.push('The same call may succeed later.');
  return lines.join('\n');
}

/** Argument by which a client asks for payment requirements in place of the public part of an answer. */
const ACCESS_ARGUMENT = 'access';

const PAY = 'pay';

export const FORMS = ['summary', 'full'] as const;

type Form = (typeof FORMS)[number];

const FORM = z
  .enum(FORMS, { error: `must be one of ${FORMS.join(', ')}` })
  .default('summary')
  .describe('full: by oracle://schemas/{tool}');

const ACCESS = z
  .literal(PAY, { error: `must be ${PAY}, or left out` })
  .optional()
  .describe('For x402 clients: payment requirements');

const choicesOf = (isSold: boolean) => z.object({ form: FORM, ...(isSold && { [ACCESS_ARGUMENT]: ACCESS }) });
const CHOICES = { sold: choicesOf(true), free: choicesOf(false) };

/** @throws OracleError INPUT_INVALID naming `form` or `access` */
function splitToolInput(isSold: boolean, { form, ...others }: Fields) {
  const { [ACCESS_ARGUMENT]: access, ...input } = others;
  const choices = isSold ? { form, [ACCESS_ARGUMENT]: access } : { form };
  const chosen = parseInput(isSold ? CHOICES.sold : CHOICES.free, choices, { kind: 'input', root: 'input' }) as { form: Form };
  // `pays`: without a payment the client wants the requirements.
  return { input: isSold ? input : others, form: chosen.form, pays: isSold && access === PAY };
}

/** Whether the tool has the argument `access`. */
function isPayable({ tier, offering }: Skill, payments: McpPayments): boolean {
  return payments === 'call' && tier !== 'public' && offering !== null;
}

/** JSON Schema of all arguments of a tool. */
function buildToolInputSchema(skill: Skill, payments: McpPayments): Record<string, unknown> {
  const { properties, ...input } = toSkillJsonSchema(skill.input, 'input');
  const choices = toSkillJsonSchema(isPayable(skill, payments) ? CHOICES.sold : CHOICES.free, 'input');
  return { ...input, properties: { ...(properties as object), ...(choices.properties as object) } };
}

/** What `tools/list` has of a skill. */
function declareTool(skill: Skill, { payments, apps }: Pick<McpServerOptions, 'payments' | 'apps'>) {
  const { title, cost, tier, freshness } = skill;
  const price = payments === 'off' ? {} : { price: tier === 'public' ? 'free' : (formatOffer(skill.offering)?.price ?? null) };
  return {
    title,
    description: `${skill.description}\n\n${formatTerms(skill, payments)}`,
    inputSchema: toListedInput(skill, payments),
    outputSchema: toListedOutput(skill),
    // The chain lies outside this service. Tools that only read need no hint of repetition.
    annotations: { title, readOnlyHint: true, destructiveHint: false, openWorldHint: cost === 'rpc' },
    _meta: {
      [META_KEYS.terms]: { tier, ...price, freshSeconds: freshness.seconds },
      ...(apps === undefined ? {} : buildViewMeta(skill.id)),
    },
  };
}

function formatTerms(skill: Skill, payments: McpPayments): string {
  const access =
    skill.tier === 'public' ? 'Public' : `Whole with a token of the ${skill.tier} tier, else what is public and how to get the rest`;
  const price = payments === 'off' ? '' : `; ${formatPrice(skill)}`;
  return `${access}${price}. Freshness: ${skill.freshness.description}.`;
}

export function getAppUri(view: AppView): string {
  return `ui://${IDENTITY.slug}/${view}`;
}

/**
 * Members of a tool's `_meta` that name its view, in the current spelling and in that of earlier hosts. Every client gets them: lists are
 * cached for all clients, older revisions send their capabilities with another request, and a client without the extension ignores them.
 */
function buildViewMeta(tool: string): Record<string, unknown> {
  const view = findToolView(tool);
  if (view === undefined) return {};
  const resourceUri = getAppUri(view);
  return { ui: { resourceUri }, 'ui/resourceUri': resourceUri };
}

type Fields = Record<string, unknown>;

type Validate = mcp.StandardSchemaWithJSON<Fields>['~standard']['validate'];

/** The SDK asks for the schema with each call, so it is converted once. */
function toStandardSchema(build: () => Fields, validate: Validate): mcp.StandardSchemaWithJSON<Fields> {
  let known: Fields | undefined;
  const getSchema = () => {
    known ??= freeze(build());
    return known;
  };
  return { '~standard': { version: 1, vendor: 'bitcoin-signal-oracle', validate, jsonSchema: { input: getSchema, output: getSchema } } };
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

/** Input schema for listing only: the skill runner validates, so that errors are the same over all transports. */
export function toListedInput(skill: Skill, payments: McpPayments): mcp.StandardSchemaWithJSON<Fields> {
  return toStandardSchema(
    () => buildToolInputSchema(skill, payments),
    (value) => ({ value: value as Fields }),
  );
}

/** Input, summary and full answer of a tool, with all descriptions; what recurs in the full answer stands once, in `$defs`. */
export function describeTool(skill: Skill, payments: McpPayments): Fields {
  return {
    tool: skill.id,
    inputSchema: buildToolInputSchema(skill, payments),
    summarySchema: buildSummarySchema(skill),
    fullOutputSchema: toSkillJsonSchema(skill.output, 'output', { reused: 'ref' }),
  };
}

/** Top level of the output of all forms of an answer. The SDK enforces on results that they have one. */
export function toListedOutput(skill: Skill): mcp.StandardSchemaWithJSON<Fields> {
  const { short, whole } = listForms(skill);
  const forms = [...short, ...whole];
  return toStandardSchema(
    () => buildListedOutput(skill),
    (value) => {
      if (forms.some((form) => form.safeParse(value).success)) return { value: value as Fields };
      const { issues } = skill.output.safeParse(value).error!;
      return { issues: issues.map(({ message, path }) => ({ message, path })) };
    },
  );
}

/** The forms of a tool's structured content: short ones, and whole ones. */
function listForms({ output, outline, publicPart }: Skill): { short: z.ZodObject[]; whole: z.ZodObject[] } {
  const withWays = (schema: z.ZodObject) => schema.extend({ ways: ACCESS_WAYS });
  const part = publicPart && { short: withWays(publicPart.outline.schema), whole: withWays(publicPart.output) };
  return { short: [outline.schema, ...(part ? [part.short] : [])], whole: [output, ...(part ? [part.whole] : [])] };
}

/** JSON Schema that every form satisfies: the members of the outline, to which `full` adds some. */
function buildSummarySchema(skill: Skill): Fields {
  const shapes = listForms(skill).short.map(({ shape }) => shape);
  const members = Object.assign({}, ...shapes) as z.ZodRawShape;
  const isShared = (name: string) => shapes.every((shape) => name in shape);
  const merged = Object.entries(members).map(([name, schema]) => [name, isShared(name) ? schema : (schema as z.ZodType).optional()]);
  return openObjects(toSkillJsonSchema(z.object(Object.fromEntries(merged)), 'output')) as Fields;
}

/** The types of the members that every form has: what is below would be most of `tools/list`. */
function buildListedOutput(skill: Skill): Fields {
  const { properties, required } = buildSummarySchema(skill) as { properties: Record<string, TypedSchema>; required: string[] };
  return { type: 'object', properties: Object.fromEntries(required.map((name) => [name, toTypes(properties[name]!)])) };
}

interface TypedSchema {
  type?: string;
  /** Of a member that may be null. */
  anyOf?: TypedSchema[];
}

function toTypes({ type, anyOf }: TypedSchema): TypedSchema {
  return anyOf === undefined ? { type } : { anyOf: anyOf.map(toTypes) };
}

/** A full answer has more members, at every depth. */
function openObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([keyword, value]) => keyword !== 'additionalProperties' || value !== false);
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, openObjects(value)]));
}

interface LocalBackendDeps {
  runSkill: RunSkill;
  /** Unset: calls cannot be paid for. */
  paidCalls?: PaidCalls;
}

const NO_PAYMENT: CallPayment = { payment: undefined, ref: undefined, wantsQuote: false };

export function createLocalBackend({ runSkill, paidCalls }: LocalBackendDeps, context: RequestContext): McpBackend {
  return {
    async run(skillId, input, { payment, ref, wantsQuote } = NO_PAYMENT) {
      const skill = findSkill(skillId);
      const { offering, ...terms } = getTerms(skill, input);
      const seller = isForSale({ offering, ...terms }, context.caller) ? paidCalls : undefined;
      const getSale = () => ({ call: { skill, offering }, endpoint: ENDPOINTS.mcp, bazaar: getToolListing(skill) });
      if (seller !== undefined && payment !== undefined && payment !== null) {
        const call = prepareCall(skillId, input, PAYING_CALLER);
        return seller.sell({ ...getSale(), call, payment, ref, context, owner: context.address });
      }
      try {
        return await runSkill(prepareCall(skillId, input, context.caller), context);
      } catch (error) {
        if (seller === undefined || !wantsQuote || !isTierError(error)) throw error;
        throw new PayableError(error, await seller.signedQuote(getSale()));
      }
    },
  };
}

/** A skill does not change within a process. */
const listings = new Map<string, BazaarDeclaration>();

/** How facilitators list the tool of a skill whose single answers are sold. */
export function getToolListing(skill: Skill): BazaarDeclaration {
  const known = listings.get(skill.id);
  if (known !== undefined) return known;
  const { id, summary, examples } = skill;
  const { properties, ...schema } = toSkillJsonSchema(skill.input, 'input');
  const inputSchema = { ...schema, properties: { ...(properties as object), [ACCESS_ARGUMENT]: { type: 'string', const: PAY } } };
  const tool = { toolName: id, description: summary, inputSchema, example: { ...examples[0].input, [ACCESS_ARGUMENT]: PAY } };
  const listing = declareMcpTool(tool, buildSkillSample(skill));
  listings.set(id, listing);
  return listing;
}

/** A call that the caller's tier excludes, but that can be paid for. */
export class PayableError extends OracleError {
  readonly quote: PaymentQuote;

  /** @param rejection error of the tier check, whose code and message are kept */
  constructor(rejection: OracleError, quote: PaymentQuote) {
    const { code, message, field, suggestedAction, details } = rejection;
    super(code, message, { field, suggestedAction, details, cause: rejection });
    this.quote = quote;
  }
}

function isTierError(error: unknown): error is OracleError {
  return isOracleError(error, 'UNAUTHENTICATED') || isOracleError(error, 'TIER_REQUIRED');
}

/** Undefined for an error of a call that cannot be paid for. */
function toPaymentRequired(error: unknown): PaymentRequired | undefined {
  if (error instanceof PaymentRequiredError) return createPaymentRequired(error.quote, error.x402Code);
  return error instanceof PayableError ? createPaymentRequired(error.quote, 'payment_required') : undefined;
}
