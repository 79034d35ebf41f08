import type { z } from 'zod';
import type { ZodOpenApiExamplesObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_CODES, type ErrorCode } from '../../../platform/errors.ts';
import { PROBLEMS } from '../server/problems/problem.ts';
import type { AccessLevel, Route } from '../server/route.ts';
import { toPascalCase } from './components/pascal-case.ts';
import { EXAMPLES } from './examples.ts';
import { buildProblemHeaders } from './headers.ts';
import { PAYMENT_PROBLEM, PROBLEM } from './problem-schema.ts';
import { skipsAuthentication } from './security-schemes.ts';

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
  const codes = new Set<ErrorCode>([
    ...(skipsAuthentication(route) ? [] : BY_ACCESS[access]),
    ...(isSold === true ? (['PAYMENT_REQUIRED'] as const) : []),
    ...(cost === 'free' ? [] : (['RATE_LIMITED'] as const)),
    ...((params ?? query ?? body) === undefined ? [] : (['INPUT_INVALID'] as const)),
    ...(body === undefined ? [] : (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
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

/** Statuses of the server itself: URLs, bodies and internal errors. */
const GENERAL_STATUSES: ReadonlySet<number> = new Set([413, 414, 415, 500]);

interface ProblemReplies {
  byStatus: Map<number, ZodOpenApiResponseObject>;
  /** For `default`. */
  fallback: ZodOpenApiResponseObject;
}

export function buildProblemReplies(route: Route): ProblemReplies {
  const isCounted = route.cost !== 'free';
  const groups = [...Map.groupBy(listErrorCodes(route), (code) => PROBLEMS[code].status)];
  // An operation without other client errors documents 414, so that it has at least one.
  const isGeneral = (status: number) =>
    GENERAL_STATUSES.has(status) && (status !== 414 || groups.some(([other]) => isOperationFault(other)));
  const own = groups.filter(([status]) => !isGeneral(status));
  const general = groups.filter(([status]) => isGeneral(status)).flatMap(([, codes]) => codes);
  const byStatus = own.map(([status, codes]): [number, ZodOpenApiResponseObject] => {
    const isTerms = (route.access === 'paid' || route.isSold === true) && codes.includes('PAYMENT_REQUIRED');
    return [status, isTerms ? PAYMENT_REQUIRED_REPLY : getProblemReply(codes, isCounted)];
  });
  return {
    byStatus: new Map(byStatus),
    fallback: getProblemReply(general, isCounted, general.includes('PAYLOAD_TOO_LARGE') ? 'OtherOfBody' : 'Other'),
  };
}

function isOperationFault(status: number): boolean {
  return status < 500 && !GENERAL_STATUSES.has(status);
}

const PAYMENT_REQUIRED_REPLY: ZodOpenApiResponseObject = {
  id: 'PaymentTerms',
  ...describeProblems(['PAYMENT_REQUIRED'], true, PAYMENT_PROBLEM),
};

const repliesById = new Map<string, ZodOpenApiResponseObject>();

/** One shared component per set of errors. */
function getProblemReply(codes: ErrorCode[], isCounted: boolean, name = buildReplyName(codes)): ZodOpenApiResponseObject {
  const id = `${name}${isCounted ? '' : 'Uncounted'}`;
  const known = repliesById.get(id) ?? { id, ...describeProblems(codes, isCounted) };
  repliesById.set(id, known);
  return known;
}

/** 503 causes of almost every operation. */
const ALWAYS_UNAVAILABLE: readonly ErrorCode[] = ['CHAIN_UNREACHABLE', 'DATABASE_UNAVAILABLE', 'SHUTTING_DOWN', 'OVERLOADED'];

/** Such as `TierRequiredOriginRefused`; the usual 503 causes are `Unavailable`. */
function buildReplyName(codes: readonly ErrorCode[]): string {
  const own = codes.filter((code) => !ALWAYS_UNAVAILABLE.includes(code));
  const isUnavailable = own.length < codes.length;
  const reach = isUnavailable && !codes.includes('CHAIN_UNREACHABLE') ? ['WithoutChain'] : [];
  return [...(isUnavailable ? ['Unavailable'] : []), ...reach, ...own.map((code) => toPascalCase(code.toLowerCase()))].join('');
}

function describeProblems(codes: ErrorCode[], isCounted: boolean, schema: z.ZodType = PROBLEM): ZodOpenApiResponseObject {
  const examples = pickProblemExamples(codes);
  return {
    description: codes.map((code) => `\`${code}\` (${PROBLEMS[code].status}): ${PROBLEMS[code].title}`).join('\n\n'),
    headers: buildProblemHeaders({
      counted: isCounted,
      retryable: codes.some((code) => ERROR_CODES[code].retryable),
      challenge: codes.includes('UNAUTHENTICATED') || codes.includes('TIER_REQUIRED'),
      terms: schema === PAYMENT_PROBLEM,
    }),
    content: { 'application/problem+json': { schema, ...(examples === undefined ? {} : { examples }) } },
  };
}

function pickProblemExamples(codes: ErrorCode[]): ZodOpenApiExamplesObject | undefined {
  const known = codes.filter((code) => EXAMPLES.problems[code] !== undefined);
  if (known.length === 0) return undefined;
  return Object.fromEntries(known.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}
