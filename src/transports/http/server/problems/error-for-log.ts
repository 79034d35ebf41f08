import type { Request } from 'express';
import { PAYMENT_HEADERS } from '../payments/payment-headers.ts';
import { getRoutePath } from '../security/request-log.ts';

const MAX_CHARS = 8_000;
const MAX_CAUSES = 4;
/** Shorter texts are words of any trace. */
const MIN_SECRET_CHARS = 8;

/** Headers that carry what only the caller may know. */
const SECRET_HEADERS = ['authorization', 'cookie', ...PAYMENT_HEADERS];

/** An error as a log line may have it: its stack and causes, bounded, without what its request carried in confidence. */
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

/** Longest first, so that no part of one is left by another that it holds. */
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

/** What the path has beyond the declared one: the framework has forgotten the parameters when an error is told. */
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
