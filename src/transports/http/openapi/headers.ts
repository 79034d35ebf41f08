import type { oas31 } from 'zod-openapi';
import { PAYMENT_REQUIRED_HEADER, SETTLEMENT_HEADERS } from '../server/payments/payment-headers.ts';
import type { Route } from '../server/route.ts';

/** Every header that the reference speaks of. */
export const HEADERS = {
  'X-Request-Id': buildTextHeader('Names this request in the log of the service; the one that was sent, if it was fit to be used'),
  RateLimit: buildTextHeader(
    'What is left of the limit that this request counts against, e.g. `"public";r=59;t=42` (seconds until it is full again)',
  ),
  'RateLimit-Policy': buildTextHeader('The limit itself, e.g. `"public";q=60;w=60`: 60 requests in 60 seconds'),
  ETag: buildTextHeader('Changes when the content does; send it back as If-None-Match'),
  'Cache-Control': buildTextHeader('For how long the answer may be kept, and by whom'),
  'Retry-After': { description: 'Seconds after which trying again makes sense', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': buildTextHeader(
    'How to authenticate; to whoever sent a token also what is wrong with it, as `error` (RFC 6750, section 3.1)',
  ),
  [PAYMENT_REQUIRED_HEADER]: buildTextHeader('The terms of x402 version 2, as base64 of their JSON'),
  [SETTLEMENT_HEADERS.v2]: buildTextHeader(
    'What was paid, in version 2, as base64 of its JSON; with a 402 only of a good payment that could not be settled (`success` false); not with an answer that was free, or paid for in version 1',
  ),
  [SETTLEMENT_HEADERS.v1]: buildTextHeader('The same in version 1: where the payment came in X-PAYMENT or X-402-Payment'),
} satisfies Record<string, oas31.HeaderObject>;

type HeaderName = keyof typeof HEADERS;

function buildTextHeader(description: string): oas31.HeaderObject {
  return { description, schema: { type: 'string' } };
}

const toHeaderRefs = (names: readonly HeaderName[]): oas31.HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const getCommonHeaders = (counted: boolean): HeaderName[] =>
  counted ? ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'] : ['X-Request-Id'];

/** Headers of a successful response, beside `X-Request-Id` and the limits, which the introduction describes for every response. */
export function buildSuccessHeaders(route: Pick<Route, 'access' | 'cost' | 'method' | 'isWebSocket'>): oas31.HeadersObject {
  const { access, cost, method, isWebSocket } = route;
  if (isWebSocket === true) return {};
  const paid: HeaderName[] = access === 'paid' ? Object.values(SETTLEMENT_HEADERS) : [];
  // With `error="invalid_token"`, where a token was rejected and the answer is that of an anonymous caller.
  const challenge: HeaderName[] = access === 'public' && cost !== 'free' ? ['WWW-Authenticate'] : [];
  return toHeaderRefs(['Cache-Control', ...(method === 'get' ? (['ETag'] as const) : []), ...challenge, ...paid]);
}

/** Headers of a problem document. */
export function buildProblemHeaders({
  counted,
  retryable,
  challenge,
  terms,
}: Record<'counted' | 'retryable' | 'challenge' | 'terms', boolean>): oas31.HeadersObject {
  return toHeaderRefs([
    ...getCommonHeaders(counted),
    ...(retryable ? (['Retry-After'] as const) : []),
    ...(terms ? ([PAYMENT_REQUIRED_HEADER, ...Object.values(SETTLEMENT_HEADERS)] as const) : []),
    ...(challenge ? (['WWW-Authenticate'] as const) : []),
  ]);
}
