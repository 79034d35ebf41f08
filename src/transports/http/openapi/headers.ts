import type { oas31 } from 'zod-openapi';
import { PAYMENT_REQUIRED_HEADER, SETTLEMENT_HEADERS } from '../server/payments/payment-headers.ts';
import type { Route } from '../server/route.ts';

export const HEADERS = {
  'X-Request-Id': buildTextHeader('Request id in the log of the service; that of the request where it was valid'),
  RateLimit: buildTextHeader('Remaining quota, e.g. `"public";r=59;t=42` (t: seconds until reset)'),
  'RateLimit-Policy': buildTextHeader('Quota, e.g. `"public";q=60;w=60`: 60 requests in 60 seconds'),
  ETag: buildTextHeader('Changes with the content; send it as If-None-Match'),
  'Cache-Control': buildTextHeader('Cache policy of the response'),
  'Retry-After': { description: 'Seconds to wait before a retry', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': buildTextHeader('Challenge; with a rejected token also its `error` (RFC 6750, section 3.1)'),
  [PAYMENT_REQUIRED_HEADER]: buildTextHeader('Payment requirements of x402 version 2, base64 JSON'),
  [SETTLEMENT_HEADERS.v2]: buildTextHeader(
    'Settlement in version 2, base64 JSON; on a 402 only where a valid payment failed to settle (`success` false); absent on free answers, and for version 1 payments',
  ),
  [SETTLEMENT_HEADERS.v1]: buildTextHeader('The same in version 1, where the payment was sent in X-PAYMENT or X-402-Payment'),
} satisfies Record<string, oas31.HeaderObject>;

type HeaderName = keyof typeof HEADERS;

function buildTextHeader(description: string): oas31.HeaderObject {
  return { description, schema: { type: 'string' } };
}

const toHeaderRefs = (names: readonly HeaderName[]): oas31.HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const getCommonHeaders = (counted: boolean): HeaderName[] =>
  counted ? ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'] : ['X-Request-Id'];

type SuccessTraits = Pick<Route, 'access' | 'cost' | 'isLive' | 'isSold' | 'isWebSocket' | 'method'>;

/** Headers of a success, besides `X-Request-Id` and rate limits, which the introduction documents for all responses. */
export function buildSuccessHeaders(route: SuccessTraits): oas31.HeadersObject {
  const { access, cost, isLive, isSold, isWebSocket, method } = route;
  if (isWebSocket === true) return {};
  const paid: HeaderName[] = access === 'paid' || isSold === true ? Object.values(SETTLEMENT_HEADERS) : [];
  // `error="invalid_token"` on the response to an anonymous caller whose token was rejected.
  const challenge: HeaderName[] = access === 'public' && cost !== 'free' ? ['WWW-Authenticate'] : [];
  return toHeaderRefs(['Cache-Control', ...(method === 'get' && isLive !== true ? (['ETag'] as const) : []), ...challenge, ...paid]);
}

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
