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

/** A token is read on every path: a rejected one makes its sender anonymous, and of a good one the balance may not be known. */
const BY_ACCESS: Record<AccessLevel, readonly ErrorCode[]> = {
  public: ['CHAIN_UNREACHABLE'],
  basic: ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CHAIN_UNREACHABLE'],
  premium: ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CHAIN_UNREACHABLE'],
  paid: ['PAYMENT_REQUIRED'],
  // Unless the operator has set a password nothing is served there.
  admin: ['UNAUTHENTICATED', 'NOT_FOUND'],
};

/** Every error that an operation can answer with: those that follow from how it is declared, and those it names. */
export function listErrorCodes(route: Route): ErrorCode[] {
  const { access, cost, params, query, errors } = route;
  const body = route.body ?? route.json;
  const codes = new Set<ErrorCode>([
    ...(skipsAuthentication(route) ? [] : BY_ACCESS[access]),
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

/** Statuses that depend on no operation: of URLs, bodies and faults of the service. */
const GENERAL_STATUSES: ReadonlySet<number> = new Set([413, 414, 415, 500]);

interface ProblemReplies {
  byStatus: Map<number, ZodOpenApiResponseObject>;
  /** Of all other statuses. */
  fallback: ZodOpenApiResponseObject;
}

/** Problem documents of an operation. */
export function buildProblemReplies(route: Route): ProblemReplies {
  const isCounted = route.cost !== 'free';
  const groups = [...Map.groupBy(listErrorCodes(route), (code) => PROBLEMS[code].status)];
  // An operation that has no fault of a caller's beside those of every URL names that one.
  const isGeneral = (status: number) =>
    GENERAL_STATUSES.has(status) && (status !== 414 || groups.some(([other]) => isOperationFault(other)));
  const own = groups.filter(([status]) => !isGeneral(status));
  const general = groups.filter(([status]) => isGeneral(status)).flatMap(([, codes]) => codes);
  const byStatus = own.map(([status, codes]): [number, ZodOpenApiResponseObject] => {
    const isTerms = route.access === 'paid' && codes.includes('PAYMENT_REQUIRED');
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

/** A 402 that says how to pay with the request itself. */
const PAYMENT_REQUIRED_REPLY: ZodOpenApiResponseObject = {
  id: 'PaymentTerms',
  ...describeProblems(['PAYMENT_REQUIRED'], true, PAYMENT_PROBLEM),
};

const repliesById = new Map<string, ZodOpenApiResponseObject>();

/** One object for each set of errors, so that the document has each of them once. */
function getProblemReply(codes: ErrorCode[], isCounted: boolean, name = buildReplyName(codes)): ZodOpenApiResponseObject {
  const id = `${name}${isCounted ? '' : 'Uncounted'}`;
  const known = repliesById.get(id) ?? { id, ...describeProblems(codes, isCounted) };
  repliesById.set(id, known);
  return known;
}

/** What almost every operation can answer with 503. */
const ALWAYS_UNAVAILABLE: readonly ErrorCode[] = ['CHAIN_UNREACHABLE', 'DATABASE_UNAVAILABLE', 'SHUTTING_DOWN', 'OVERLOADED'];

/** `TierRequiredOriginRefused`; of 503 what comes beside what almost every operation can say. */
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
