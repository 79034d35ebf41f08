import type { Request } from 'express';
import { PAYMENT_HEADERS } from '../payments/payment-headers.ts';
import { getRoutePath } from '../security/request-log.ts';

const MAX_CHARS = 8_000;
const MAX_CAUSES = 4;
/** Shorter values occur in any stack trace by chance. */
const MIN_SECRET_CHARS = 8;

const SECRET_HEADERS = ['authorization', 'cookie', ...PAYMENT_HEADERS];

/** Stack and causes of an error for the log, bounded, with the credentials and parameters of its request redacted. */
export function formatErrorForLog(error: unknown, request: Request): string {
  return collectSecrets(request)
    .reduce((text, secret) => text.replaceAll(secret, '***'), formatTrace(error, MAX_CAUSES))
    .slice(0, MAX_CHARS);
}

function formatTrace(error: unknown, causes: number): string {
  if (!(error instanceof Error)) return String(error);
  const trace = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined || causes === 0 ? trace : `${trace}\n[cause] ${formatTrace(error.cause, causes - 1)}`;
}

/** Longest first: replacing a substring first would leave the rest of a longer secret. */
function collectSecrets(request: Request): string[] {
  const headers = SECRET_HEADERS.flatMap((name) => request.get(name) ?? []);
  const candidates = headers.flatMap((value) => [value, ...value.split(/[\s;,=]+/)]);
  const texts = [...candidates, ...collectStrings(request.query), ...collectStrings(request.body), ...collectPathParameters(request)];
  return [...new Set(texts)].filter(({ length }) => length >= MIN_SECRET_CHARS).sort((a, b) => b.length - a.length);
}

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectStrings) : [];
}

/** Segments that the declared path lacks: Express has cleared `params` when its error handler runs. */
function collectPathParameters(request: Request): string[] {
  const declared = new Set(getRoutePath(request).split('/'));
  return request.path.split('/').flatMap((segment) => (declared.has(segment) ? [] : [segment, decodePathSegment(segment)]));
}

function decodePathSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
