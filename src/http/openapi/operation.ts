import { z } from 'zod';
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiRequestBodyObject } from 'zod-openapi';
import { formatAmount, type Offering } from '../../commerce/offerings.ts';
import type { PaymentHeader } from '../problems.ts';
import type { AccessLevel, Route } from '../route.ts';
import { buildReplies, nameBody } from './replies.ts';

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
      "Token of POST /api/svc/oracle/verify, which lasts 30 minutes and carries the tier of the wallet's gate token balance; or an API key of POST /api/svc/oracle/keys.",
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
