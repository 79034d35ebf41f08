import type { oas31 } from 'zod-openapi';
import { SETTLEMENT_HEADERS, TERMS_HEADER } from '../payment-headers.ts';
import type { Route } from '../route.ts';

/** Every header that the reference speaks of. */
export const HEADERS = {
  'X-Request-Id': text('Names this request in the log of the service; the one that was sent, if it was fit to be used'),
  RateLimit: text('What is left of the limit that this request counts against, e.g. `"public";r=59;t=42` (seconds until it is full again)'),
  'RateLimit-Policy': text('The limit itself, e.g. `"public";q=60;w=60`: 60 requests in 60 seconds'),
  ETag: text('Changes when the content does; send it back as If-None-Match'),
  'Cache-Control': text('For how long the answer may be kept, and by whom'),
  'Retry-After': { description: 'Seconds after which trying again makes sense', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': text('How to authenticate; to whoever sent a token also what is wrong with it, as `error` (RFC 6750, section 3.1)'),
  [TERMS_HEADER]: text('The terms of x402 version 2, as base64 of their JSON'),
  [SETTLEMENT_HEADERS.v2]: text(
    'What was paid, in version 2, as base64 of its JSON; with a 402 only of a good payment that could not be settled (`success` false); not with an answer that was free, or paid for in version 1',
  ),
  [SETTLEMENT_HEADERS.v1]: text('The same in version 1: where the payment came in X-PAYMENT or X-402-Payment'),
} satisfies Record<string, oas31.HeaderObject>;

type HeaderName = keyof typeof HEADERS;

function text(description: string): oas31.HeaderObject {
  return { description, schema: { type: 'string' } };
}

const refs = (names: readonly HeaderName[]): oas31.HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const common = (counted: boolean): HeaderName[] => (counted ? ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'] : ['X-Request-Id']);

/** Headers of a successful response, beside `X-Request-Id` and the limits, which the introduction describes for every response. */
export function successHeaders(route: Pick<Route, 'access' | 'cost' | 'method' | 'isWebSocket'>): oas31.HeadersObject {
  const { access, cost, method, isWebSocket } = route;
  if (isWebSocket === true) return {};
  const paid: HeaderName[] = access === 'paid' ? Object.values(SETTLEMENT_HEADERS) : [];
  // With `error="invalid_token"`, where a token was rejected and the answer is that of an anonymous caller.
  const challenge: HeaderName[] = access === 'public' && cost !== 'free' ? ['WWW-Authenticate'] : [];
  return refs(['Cache-Control', ...(method === 'get' ? (['ETag'] as const) : []), ...challenge, ...paid]);
}

/** Headers of a problem document. */
export function problemHeaders({
  counted,
  retryable,
  challenge,
  terms,
}: Record<'counted' | 'retryable' | 'challenge' | 'terms', boolean>): oas31.HeadersObject {
  return refs([
    ...common(counted),
    ...(retryable ? (['Retry-After'] as const) : []),
    ...(terms ? ([TERMS_HEADER, ...Object.values(SETTLEMENT_HEADERS)] as const) : []),
    ...(challenge ? (['WWW-Authenticate'] as const) : []),
  ]);
}
