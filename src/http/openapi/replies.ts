import { z } from 'zod';
import type { oas31, ZodOpenApiContentObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { ERROR_CODES, type ErrorCode } from '../../errors.ts';
import { PAYMENT_REQUIRED_HEADER, PROBLEMS, SETTLEMENT_HEADERS } from '../problems.ts';
import type { AccessLevel, Route } from '../route.ts';
import { PAYMENT_MEMBERS } from '../schemas/payment.ts';
import { toPascalCase } from './schemas.ts';

export const PROBLEM = z
  .looseObject({
    type: z.string().describe('URN of the problem type'),
    title: z.string().describe('Title of the problem type'),
    status: z.int().describe('HTTP status'),
    detail: z.string().describe('Explanation of this occurrence'),
    instance: z.string().describe('Requested path'),
    success: z.literal(false).describe('Always false'),
    code: z
      .enum(Object.keys(ERROR_CODES) as ErrorCode[])
      .meta({ id: 'ErrorCode' })
      .describe('Machine-readable error code'),
    retryable: z.boolean().describe('Whether the same request may succeed later'),
    suggestedAction: z.string().describe('Instruction to resolve the problem'),
    field: z.string().optional().describe('Invalid parameter, body field or header'),
  })
  .describe('Problem details (RFC 9457); further members are facts of this occurrence')
  .meta({ id: 'Problem' });

export const PAYMENT_PROBLEM = z
  .looseObject({ ...PROBLEM.shape, ...PAYMENT_MEMBERS })
  .describe('Problem details (RFC 9457), also the 402 of x402 version 1')
  .meta({ id: 'PaymentProblem' });

/** All replies of an operation, by status. */
export function buildReplies(route: Route): ZodOpenApiResponsesObject {
  const { status, protocolErrors } = route;
  if (protocolErrors !== undefined) {
    const error: ZodOpenApiResponseObject = {
      id: 'ProtocolError',
      description: 'Rejected before its protocol was read, such as beyond a limit; an error of its protocol all the same',
      headers: toHeaderRefs([...RATE_LIMIT_HEADERS, 'Retry-After']),
      content: { 'application/json': { schema: nameBody(protocolErrors, 'protocol', 'Error') } },
    };
    return { [status]: buildSuccessReply(route), 429: error, default: error } as ZodOpenApiResponsesObject;
  }
  const byStatus = new Map<number, ZodOpenApiResponseObject>([[status, buildSuccessReply(route)], ...buildOtherReplies(route)]);
  const problems = buildProblemReplies(route);
  for (const [problemStatus, problem] of problems.byStatus) {
    byStatus.set(problemStatus, mergeReplies(byStatus.get(problemStatus), problem));
  }
  const listed = Object.fromEntries([...byStatus].sort(([a], [b]) => a - b));
  return { ...listed, default: problems.fallback } as ZodOpenApiResponsesObject;
}

/** A schema without an id is named after its operation, such as `GetBtcPriceResponse`. */
export function nameBody(schema: z.ZodType, operationId: string, role: string): z.ZodType {
  return schema.meta()?.id === undefined ? schema.meta({ id: `${toPascalCase(operationId)}${role}` }) : schema;
}

function buildSuccessReply(route: Route): ZodOpenApiResponseObject {
  const { name, reply, alternatives = {} } = route;
  const also = Object.entries(alternatives).map(([type, { description }]) => `As \`${type}\`: ${description}`);
  const content: ZodOpenApiContentObject = {};
  if (reply !== null) content['application/json'] = { schema: nameBody(reply, name, 'Response') };
  for (const [type, { schema }] of Object.entries(alternatives)) {
    content[type] = { schema: schema === undefined ? { type: 'string' } : nameBody(schema, name, `${toPascalCase(type)}Response`) };
  }
  return withParts({ description: ['Success', ...also].join('\n\n') }, buildSettlementHeaders(route), content);
}

function buildOtherReplies(route: Route): [number, ZodOpenApiResponseObject][] {
  return Object.entries(route.otherReplies ?? {}).map(([status, { description, schema }]) => {
    const content: ZodOpenApiContentObject =
      schema === undefined ? {} : { 'application/json': { schema: nameBody(schema, route.name, `${status}Response`) } };
    return [Number(status), withParts({ description }, {}, content)];
  });
}

function withParts<T extends object>(reply: T, headers: oas31.HeadersObject, content: ZodOpenApiContentObject) {
  return {
    ...reply,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/** A status may have a reply and a problem document, by media type. */
function mergeReplies(own: ZodOpenApiResponseObject | undefined, problem: ZodOpenApiResponseObject): ZodOpenApiResponseObject {
  if (own === undefined) return problem;
  return {
    ...own,
    description: `${own.description}\n\n${problem.description}`,
    headers: { ...(own.headers as object), ...(problem.headers as object) },
    content: { ...own.content, ...problem.content },
  };
}

export const HEADERS = {
  RateLimit: buildTextHeader('Remaining quota, e.g. `"public";r=59;t=42` (t: seconds until reset)'),
  'RateLimit-Policy': buildTextHeader('Quota, e.g. `"public";q=60;w=60`: 60 requests in 60 seconds'),
  'Retry-After': { description: 'Seconds to wait before a retry', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': buildTextHeader('Challenge; with a rejected token also its `error` (RFC 6750, section 3.1)'),
  [PAYMENT_REQUIRED_HEADER]: buildTextHeader('Payment requirements of x402 version 2, base64 JSON'),
  [SETTLEMENT_HEADERS.v2]: buildTextHeader(
    'Settlement in version 2, base64 JSON; on a 402 only where a valid payment failed to settle (`success` false); absent for version 1 payments',
  ),
  [SETTLEMENT_HEADERS.v1]: buildTextHeader('The same in version 1, where the payment was sent in X-PAYMENT or X-402-Payment'),
} satisfies Record<string, oas31.HeaderObject>;

function buildTextHeader(description: string): oas31.HeaderObject {
  return { description, schema: { type: 'string' } };
}

const toHeaderRefs = (names: readonly (keyof typeof HEADERS)[]): oas31.HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const RATE_LIMIT_HEADERS = ['RateLimit', 'RateLimit-Policy'] as const;

/** The introduction documents 304 and the other headers, which most responses have. */
function buildSettlementHeaders({ access, isSold }: Route): oas31.HeadersObject {
  return access === 'paid' || isSold === true ? toHeaderRefs(Object.values(SETTLEMENT_HEADERS)) : {};
}

/** A token is optional on public paths, but its verification may fail to read the balance. */
const BY_ACCESS: Record<AccessLevel, readonly ErrorCode[]> = {
  public: ['CHAIN_UNREACHABLE'],
  basic: ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CHAIN_UNREACHABLE'],
  premium: ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CHAIN_UNREACHABLE'],
  paid: ['PAYMENT_REQUIRED'],
  // 404 without configured credentials.
  admin: ['UNAUTHENTICATED', 'NOT_FOUND'],
};

/** Errors that follow from the declaration of an operation, and those it lists. */
export function listErrorCodes(route: Route): ErrorCode[] {
  const { access, cost, params, query, errors, isSold } = route;
  const body = route.body ?? route.json;
  // Unmetered public operations ignore credentials.
  const skipsAuthentication = access === 'public' && cost === 'free';
  const codes = new Set<ErrorCode>([
    ...(skipsAuthentication ? [] : BY_ACCESS[access]),
    ...(isSold === true ? (['PAYMENT_REQUIRED'] as const) : []),
    ...(cost === 'free' ? [] : (['RATE_LIMITED'] as const)),
    ...((params ?? query ?? body) === undefined ? [] : (['INPUT_INVALID'] as const)),
    ...(body === undefined ? [] : BODY_CODES),
    ...(cost === 'rpc' ? (['CHAIN_UNREACHABLE'] as const) : []),
    ...errors,
    'URL_TOO_LONG',
    'DATABASE_UNAVAILABLE',
    'SHUTTING_DOWN',
    'OVERLOADED',
    'INTERNAL',
  ]);
  return (Object.keys(PROBLEMS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Statuses of the server itself: URLs, bodies, rate limits, outages and internal errors. */
const GENERAL_STATUSES: ReadonlySet<number> = new Set([413, 414, 415, 429, 500, 503]);

/** `fallback` is for `default`. */
function buildProblemReplies(route: Route) {
  const groups = [...Map.groupBy(listErrorCodes(route), (code) => PROBLEMS[code].status)];
  // An operation without client errors of its own documents a general one, so that it has at least one.
  const exception = groups.some(([status]) => !GENERAL_STATUSES.has(status)) ? undefined : route.cost === 'free' ? 414 : 429;
  const isGeneral = ([status]: [number, ErrorCode[]]) =>
    GENERAL_STATUSES.has(status) && status !== exception && route.otherReplies?.[status] === undefined;
  const byStatus = groups
    .filter((group) => !isGeneral(group))
    .map(([status, codes]): [number, ZodOpenApiResponseObject] => {
      const isTerms = (route.access === 'paid' || route.isSold === true) && codes.includes('PAYMENT_REQUIRED');
      return [status, isTerms ? PAYMENT_TERMS : getProblemReply(codes, toPascalCase(codes.join('_').toLowerCase()))];
    });
  const general = groups.filter(isGeneral).flatMap(([, codes]) => codes);
  return { byStatus: new Map(byStatus), fallback: getProblemReply(general, buildGeneralName(general)) };
}

/** General errors of most operations. */
const USUAL_CODES: readonly ErrorCode[] = [
  'RATE_LIMITED',
  'URL_TOO_LONG',
  'CHAIN_UNREACHABLE',
  'DATABASE_UNAVAILABLE',
  'SHUTTING_DOWN',
  'OVERLOADED',
  'INTERNAL',
];

const BODY_CODES: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** `Other`, with what sets others apart from it: `OtherOfBodyStepWaitingWithoutRateLimited`. */
function buildGeneralName(codes: readonly ErrorCode[]): string {
  const ofBody = codes.some((code) => BODY_CODES.includes(code)) ? ['of_body'] : [];
  const extra = codes.filter((code) => !USUAL_CODES.includes(code) && !BODY_CODES.includes(code));
  const missing = USUAL_CODES.filter((code) => !codes.includes(code));
  return toPascalCase(['other', ...ofBody, ...extra, ...(missing.length === 0 ? [] : ['without', ...missing])].join('_').toLowerCase());
}

const problemReplies = new Map<string, ZodOpenApiResponseObject>();

/** One shared component per set of errors. */
function getProblemReply(codes: ErrorCode[], id: string): ZodOpenApiResponseObject {
  const known = problemReplies.get(id) ?? { id, ...describeProblems(codes) };
  problemReplies.set(id, known);
  return known;
}

const PAYMENT_TERMS: ZodOpenApiResponseObject = {
  ...describeProblems(['PAYMENT_REQUIRED'], PAYMENT_PROBLEM),
  id: 'PaymentTerms',
  description: `${formatProblem('PAYMENT_REQUIRED')}\n\nWithout a payment, and for one that is malformed, expired or otherwise rejected: \`error\` says why.`,
};

function describeProblems(codes: ErrorCode[], schema: z.ZodType = PROBLEM): ZodOpenApiResponseObject {
  const isRetryable = codes.some((code) => ERROR_CODES[code].retryable);
  const isChallenge = codes.includes('UNAUTHENTICATED') || codes.includes('TIER_REQUIRED');
  return {
    description: codes.map(formatProblem).join('\n\n'),
    headers: toHeaderRefs([
      ...(codes.includes('RATE_LIMITED') ? RATE_LIMIT_HEADERS : []),
      ...(isRetryable ? (['Retry-After'] as const) : []),
      ...(schema === PAYMENT_PROBLEM ? ([PAYMENT_REQUIRED_HEADER, ...Object.values(SETTLEMENT_HEADERS)] as const) : []),
      ...(isChallenge ? (['WWW-Authenticate'] as const) : []),
    ]),
    content: { 'application/problem+json': { schema } },
  };
}

function formatProblem(code: ErrorCode): string {
  return `\`${code}\` (${PROBLEMS[code].status}): ${PROBLEMS[code].title}`;
}
