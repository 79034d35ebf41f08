import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { z } from 'zod';
import {
  createDocument,
  type oas31,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiRequestBodyObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { IDENTITY } from '../../../agent-card/endpoints.ts';
import { formatAmount, type Offering } from '../../commerce/offerings.ts';
import { ERROR_CODES, type ErrorCode } from '../../errors.ts';
import { PAYMENT_REQUIRED_HEADER, type PaymentHeader, PROBLEMS, SETTLEMENT_HEADERS } from '../problems.ts';
import { type AccessLevel, type Route, TAGS } from '../route.ts';
import { PAYMENT_MEMBERS } from '../schemas/payment.ts';
import { PREPARED_OPERATIONS } from './prepared-operations.ts';
import { adjustSchema, compactSchemas, toPascalCase } from './schemas.ts';

/** Interface, section 9: paths carry no version. */
export const API_VERSION = '1.0.0';

const INTRODUCTION = `
Forecasts cover 1, 2, 3 and 7 days and are made daily at about 21:35 UTC. A demonstration gives tokens by \`npx svc login --wallet premium\`.

<details><summary>Tiers, payments, events, errors, limits, caching, formats</summary>

**Tiers.** Public operations need no authentication. A wallet that has a tier logs in with a signature
(\`POST /api/svc/oracle/verify\`) and sends the token as \`Authorization: Bearer <token>\`. Until its outcome, direction and confidence
of a forecast are visible from the Basic tier on; other callers read \`GATED\` and null.

**Payments.** \`GET /oracle\` and \`GET /oracle/premium\` need no account: without a payment they answer 402 with the x402 requirements, version 2 in
\`PAYMENT-REQUIRED\` and version 1 in the body. Repeat the request with the signed payment in \`PAYMENT-SIGNATURE\`, \`X-PAYMENT\` or
\`X-402-Payment\` to get the answer with a signed receipt. Failed requests are not charged. See \`/.well-known/x402.json\`.

**Events** are pushed over the WebSocket \`/ws/signal\` and to webhooks; see \`/.well-known/asyncapi.json\`.

**Errors** are \`application/problem+json\` (RFC 9457): \`code\` for programs, \`field\` of the invalid input, \`retryable\`, \`suggestedAction\`.

**Rate limits** apply per IP address, or per wallet with a token. Every metered response has \`RateLimit\` (remaining quota) and
\`RateLimit-Policy\` (quota), in whole units: a request takes one unless its operation says otherwise, and a tenth where the same
answer was sent within the last second.

**Caching.** Every success has \`Cache-Control\`, and those of GET that may be kept an \`ETag\`.

**Rejected tokens.** A public operation treats a rejected token as none, and says so in \`WWW-Authenticate\` (RFC 6750, section 3.1).

**Request ids.** Every response has \`X-Request-Id\`: that of the request if valid, else a generated one. A W3C
\`traceparent\` is continued.

**Formats.** Times are ISO 8601 in UTC, days \`YYYY-MM-DD\`, probabilities 0 to 1; basis points are named as such. Amounts of tokens and money
are decimal strings, or integers of the smallest unit.

**Compatibility.** Replies may gain fields: ignore unknown ones. No field is removed or changes its meaning within a version. Misspelt
query parameters and unknown body fields are rejected, other unknown query parameters are ignored.

</details>
`.trim();

type Operations = Pick<oas31.OpenAPIObject, 'tags' | 'paths' | 'components'>;

interface DocumentOptions {
  publicUrl: string;
  /** E-mail address or https URL of the operator; unset: the public URL. */
  contact?: string | undefined;
  /** Members of replies have descriptions and bounds, as the types of a client show them; without, the document is half as long. */
  describesReplies?: boolean;
}

export function buildOpenApiDocument(routes: readonly Route[], options: DocumentOptions): oas31.OpenAPIObject {
  return { ...buildHead(options), ...buildOperations(routes, options.describesReplies) };
}

/** JSON of the document. Its operations, which take most of a second to build, are read from the bundle of the service where it has them. */
export function renderOpenApiDocument(routes: readonly Route[], options: DocumentOptions): string {
  const prepared = PREPARED_OPERATIONS[listNames(routes)];
  const operations =
    prepared === undefined ? JSON.stringify(buildOperations(routes)) : brotliDecompressSync(Buffer.from(prepared, 'base64')).toString();
  return `${JSON.stringify(buildHead(options)).slice(0, -1)},${operations.slice(1)}`;
}

/** An entry of `PREPARED_OPERATIONS`. */
export function prepareOperations(routes: readonly Route[]): [names: string, compressed: string] {
  return [listNames(routes), brotliCompressSync(JSON.stringify(buildOperations(routes))).toString('base64')];
}

const listNames = (routes: readonly Route[]) => routes.map(({ name }) => name).join();

/** The part that depends on settings. */
function buildHead({ publicUrl, contact }: DocumentOptions): Omit<oas31.OpenAPIObject, keyof Operations> {
  return {
    openapi: '3.1.0',
    info: {
      title: IDENTITY.name,
      version: API_VERSION,
      summary: IDENTITY.description,
      description: INTRODUCTION,
      contact: { name: IDENTITY.name, ...toContact(publicUrl, contact) },
      license: { name: 'MIT', identifier: 'MIT' },
      // Of OpenAPI 3.1; the type is that of 3.0.
    } as oas31.InfoObject,
    servers: [{ url: publicUrl.replace(/\/$/, '') }],
  };
}

function toContact(publicUrl: string, contact: string | undefined): oas31.ContactObject {
  if (contact === undefined) return { url: publicUrl };
  return URL.canParse(contact) ? { url: contact } : { url: publicUrl, email: contact };
}

function buildOperations(routes: readonly Route[], describesReplies = false): Operations {
  const used = new Set<string>(routes.map(({ tag }) => tag));
  // In declared order.
  const tagsInUse = Object.entries(TAGS).filter(([name]) => used.has(name));
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      tags: tagsInUse.map(([name, description]) => ({ name, description })),
      paths: buildPaths(routes),
      components: { headers: HEADERS, securitySchemes: pickSecuritySchemes(routes) },
    },
    { override: adjustSchema },
  ) as oas31.OpenAPIObject;
  const { tags, paths, components } = compactSchemas(document, describesReplies);
  return { tags, paths, components };
}

function buildPaths(routes: readonly Route[]): ZodOpenApiPathsObject {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, operations]) => [path, Object.fromEntries(operations.map((route) => [route.method, buildOperation(route)]))]),
  );
}

function pickSecuritySchemes(routes: readonly Route[]): Partial<typeof SECURITY_SCHEMES> {
  const { walletToken, webSocketToken, webSocketTicket, operator } = SECURITY_SCHEMES;
  const hasWebSocket = routes.some(({ isWebSocket }) => isWebSocket === true);
  const hasOperator = routes.some(({ access }) => access === 'admin');
  return { walletToken, ...(hasWebSocket ? { webSocketToken, webSocketTicket } : {}), ...(hasOperator ? { operator } : {}) };
}

export function buildOperation(route: Route): ZodOpenApiOperationObject {
  const { name, tag, summary, params, query } = route;
  const offering = route.isSold === true ? route.boughtAs : route.offering;
  const body = route.body ?? route.json;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: buildDescription(route),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    security: getSecurityRequirements(route),
    // OpenAPI cannot express tiers of one security scheme.
    'x-access': route.access,
    ...(offering == null ? {} : { 'x-payment-info': buildPaymentInfo(offering) }),
    requestParams: {
      ...(params === undefined ? {} : { path: params }),
      ...(query === undefined ? {} : { query }),
      ...(offering == null ? {} : { header: PAYMENT_PARAMETERS }),
    },
    ...(body === undefined ? {} : { requestBody: buildRequestBody(route, body) }),
    responses: buildReplies(route),
  };
}

/** Extension that crawlers of paid operations read. */
function buildPaymentInfo({ price }: Offering) {
  return { price: { mode: 'fixed', currency: price.asset, amount: formatAmount(price) }, protocols: [{ x402: {} }] };
}

const buildPaymentParameter = (id: string, description: string) => z.string().optional().meta({ param: { id, description } });

/** A payment is no credential of the API: it is sent for one request, with or without a token. */
const PAYMENT_PARAMETERS = z.object({
  'PAYMENT-SIGNATURE': buildPaymentParameter(
    'Payment',
    'Payment of x402 version 2 for this request: base64 JSON, created from the requirements in PAYMENT-REQUIRED',
  ),
  'X-PAYMENT': buildPaymentParameter('PaymentV1', 'The same in version 1, for the requirements in the body of the 402'),
  'X-402-Payment': buildPaymentParameter('PaymentOfEitherVersion', 'The same in either version'),
} satisfies Record<PaymentHeader, z.ZodType>);

const ACCESS = {
  public: 'Public.',
  basic: 'Requires a token of the Basic tier or above.',
  premium: 'Requires a token of the Premium tier.',
  paid: 'Requires an x402 payment with the request: without one it answers 402 with the terms.',
  admin: 'For the operator; answers 404 unless credentials are configured.',
} as const;

const COST = {
  normal: '',
  rpc: 'Counts against the lower limit of chain calls.',
  free: 'Not rate limited.',
} as const;

const OWNER_ONLY = 'For the wallet itself: an API key is rejected.';
const OR_PAID = 'Or an x402 payment with the request: without token and payment it answers 402 with the terms.';

function buildDescription({ description, access, cost, units = 1, isSold, ownerOnly }: Route): string {
  const rules = [
    ownerOnly === true && access === 'public' ? '' : ACCESS[access],
    ownerOnly === true ? OWNER_ONLY : '',
    isSold === true ? OR_PAID : '',
    COST[cost],
    units === 1 ? '' : `Counts as ${units} units of the rate limit.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
  return description === undefined ? rules : `${description}\n\n${rules}`;
}

function buildRequestBody({ name, bodyOptional }: Route, body: z.ZodType): ZodOpenApiRequestBodyObject {
  const schema = nameBody(body, name, 'Request');
  const [example] = (schema.meta()?.examples as unknown[] | undefined) ?? [];
  return {
    ...(bodyOptional === true ? {} : { required: true as const }),
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}

const buildQueryKey = (name: string, description: string): oas31.SecuritySchemeObject => ({
  type: 'apiKey',
  in: 'query',
  name,
  description,
});

/** Interface, section 5. */
export const SECURITY_SCHEMES = {
  walletToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'Token of POST /api/svc/oracle/verify, which lasts 30 minutes and carries the tier of the wallet; or an API key of POST /api/svc/oracle/keys.',
  },
  webSocketToken: buildQueryKey('token', 'The same token, where a WebSocket client cannot send a header.'),
  webSocketTicket: buildQueryKey('ticket', 'Ticket of POST /api/svc/ws/ticket: it opens one WebSocket and keeps the token out of the URL.'),
  operator: { type: 'http', scheme: 'basic', description: 'Credentials of the operator.' },
} satisfies Record<string, oas31.SecuritySchemeObject>;

const REQUIREMENTS: Record<AccessLevel, oas31.SecurityRequirementObject[]> = {
  // Optional: a token changes the answer.
  public: [{}, { walletToken: [] }],
  basic: [{ walletToken: [] }],
  premium: [{ walletToken: [] }],
  // Directories of x402 read a required scheme as a condition beside the payment, which is in header parameters.
  paid: [],
  admin: [{ operator: [] }],
};

/** None where a token changes nothing but the rate limit. */
export function getSecurityRequirements(
  route: Pick<Route, 'access' | 'isWebSocket' | 'variesByCaller' | 'isSold' | 'ownerOnly'>,
): oas31.SecurityRequirementObject[] {
  if (route.ownerOnly === true) return [{ walletToken: [] }];
  if (route.isSold === true) return [{}, ...REQUIREMENTS[route.access]];
  if (route.isWebSocket === true) return [...REQUIREMENTS[route.access], { webSocketToken: [] }, { webSocketTicket: [] }];
  return route.access === 'public' && route.variesByCaller !== true ? [] : REQUIREMENTS[route.access];
}

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
function buildReplies(route: Route): ZodOpenApiResponsesObject {
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
function nameBody(schema: z.ZodType, operationId: string, role: string): z.ZodType {
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
