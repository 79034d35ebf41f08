import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, OracleError, type OracleErrorOptions } from '../errors.ts';

const MAX_TEXT_CHARS = 2_000;
const MAX_DETAILS = 20;

const boundedText = z.string().transform((whole) => whole.slice(0, MAX_TEXT_CHARS));
const PROBLEM = z.looseObject({
  code: boundedText,
  detail: boundedText,
  suggestedAction: boundedText.optional(),
  field: boundedText.optional(),
});

const STANDARD_MEMBERS = new Set('type title status detail instance success code retryable suggestedAction field'.split(' '));
/** `Retry-After` of the service when no time is known. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;

/** Parses a problem document (RFC 9457) of the service into its error; undefined for other bodies. */
export function parseProblemDetails(body: unknown, retryAfter: string | null): OracleError | undefined {
  const parsed = PROBLEM.safeParse(body);
  if (!parsed.success) return undefined;
  const { code, detail, suggestedAction, field } = parsed.data;
  const options = { suggestedAction, field, ...parseRetryAfter(code, retryAfter), ...parseDetails(parsed.data) };
  if (isErrorCode(code)) return new OracleError(code, detail, options);
  return new OracleError('INTERNAL', `${code}: ${detail}`, options);
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

function parseRetryAfter(code: string, retryAfter: string | null): Pick<OracleErrorOptions, 'retryAfterSeconds'> {
  if (retryAfter === null || !/^\d{1,6}$/.test(retryAfter)) return {};
  const seconds = Number(retryAfter);
  return code !== 'RATE_LIMITED' && seconds === DEFAULT_RETRY_AFTER_SECONDS ? {} : { retryAfterSeconds: seconds };
}

function parseDetails(problem: Record<string, unknown>): Pick<OracleErrorOptions, 'details'> {
  const details = Object.entries(problem)
    .filter(([name]) => !STANDARD_MEMBERS.has(name))
    .flatMap(([name, value]): [string, string | number | boolean | null][] => {
      if (typeof value === 'string') return [[name, value.slice(0, MAX_TEXT_CHARS)]];
      return typeof value === 'number' || typeof value === 'boolean' || value === null ? [[name, value]] : [];
    })
    .slice(0, MAX_DETAILS);
  return details.length === 0 ? {} : { details: Object.fromEntries(details) };
}
