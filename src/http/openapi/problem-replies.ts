import type { z } from 'zod';
import type { ZodOpenApiExamplesObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_CODES, type ErrorCode } from '../../errors.ts';
import { PROBLEMS } from '../problem.ts';
import type { Access, Route } from '../route.ts';
import { EXAMPLES } from './examples.ts';
import { problemHeaders } from './headers.ts';
import { PAYMENT_PROBLEM, PROBLEM } from './problem-schema.ts';
import { asksNobody } from './security.ts';

/** A token is read on every path: a rejected one makes its sender anonymous, and of a good one the balance may not be known. */
const BY_ACCESS: Record<Access, readonly ErrorCode[]> = {
  public: ['CHAIN_UNREACHABLE'],
  basic: ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CHAIN_UNREACHABLE'],
  premium: ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CHAIN_UNREACHABLE'],
  paid: ['PAYMENT_REQUIRED'],
  // Unless the operator has set a password nothing is served there.
  admin: ['UNAUTHENTICATED', 'NOT_FOUND'],
};

/** Every error that an operation can answer with: those that follow from how it is declared, and those it names. */
export function errorsOf(route: Route): ErrorCode[] {
  const { access, cost, params, query, errors } = route;
  const body = route.body ?? route.json;
  const codes = new Set<ErrorCode>([
    ...(asksNobody(route) ? [] : BY_ACCESS[access]),
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

/** Problem documents of an operation, by status. */
export function problemReplies(route: Route): Map<number, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(errorsOf(route), (code) => PROBLEMS[code].status);
  return new Map(
    [...byStatus].map(([status, codes]) => {
      const isTerms = route.access === 'paid' && codes.includes('PAYMENT_REQUIRED');
      return [status, isTerms ? TERMS_REPLY : problemReply(codes, route.cost !== 'free')];
    }),
  );
}

/** A 402 that says how to pay with the request itself. */
const TERMS_REPLY: ZodOpenApiResponseObject = {
  id: 'PaymentTerms',
  ...describeProblems(['PAYMENT_REQUIRED'], true, PAYMENT_PROBLEM),
};

const replies = new Map<string, ZodOpenApiResponseObject>();

/** One object for each set of errors, so that the document has each of them once. */
function problemReply(codes: ErrorCode[], counted: boolean): ZodOpenApiResponseObject {
  const id = `${codes.map(pascalCase).join('Or')}${counted ? '' : 'Uncounted'}`;
  const known = replies.get(id) ?? { id, ...describeProblems(codes, counted) };
  replies.set(id, known);
  return known;
}

/** `InputInvalid` for `INPUT_INVALID`. */
function pascalCase(code: ErrorCode): string {
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function describeProblems(codes: ErrorCode[], counted: boolean, schema: z.ZodType = PROBLEM): ZodOpenApiResponseObject {
  const examples = examplesOf(codes);
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('\n\n'),
    headers: problemHeaders({
      counted,
      retryable: codes.some((code) => ERROR_CODES[code].retryable),
      challenge: codes.includes('UNAUTHENTICATED') || codes.includes('TIER_REQUIRED'),
      terms: schema === PAYMENT_PROBLEM,
    }),
    content: { 'application/problem+json': { schema, ...(examples === undefined ? {} : { examples }) } },
  };
}

function examplesOf(codes: ErrorCode[]): ZodOpenApiExamplesObject | undefined {
  const known = codes.filter((code) => EXAMPLES.problems[code] !== undefined);
  if (known.length === 0) return undefined;
  return Object.fromEntries(known.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}
