import type { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiRequestBodyObject } from 'zod-openapi';
import { formatAmount } from '../../../commerce/money.ts';
import type { Offering } from '../../../commerce/offerings.ts';
import type { Route } from '../server/route.ts';
import { EXAMPLES } from './examples.ts';
import { buildReplies } from './replies.ts';
import { getSecurityRequirements } from './security-schemes.ts';

/** One operation as the reference tells it. */
export function buildOperation(route: Route): ZodOpenApiOperationObject {
  const { name, tag, summary, params, query } = route;
  const body = route.body ?? route.json;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: buildDescription(route),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    security: getSecurityRequirements(route),
    // For programs: OpenAPI has no word for tiers of one and the same token.
    'x-access': route.access,
    ...(route.offering === undefined ? {} : { 'x-payment-info': buildPaymentInfo(route.offering) }),
    requestParams: { ...(params === undefined ? {} : { path: params }), ...(query === undefined ? {} : { query }) },
    ...(body === undefined ? {} : { requestBody: buildRequestBody(route, body) }),
    responses: buildReplies(route),
  };
}

/** As indexes of paid operations read it. */
function buildPaymentInfo({ price }: Offering) {
  return { price: { mode: 'fixed', currency: price.asset, amount: formatAmount(price) }, protocols: [{ x402: {} }] };
}

const ACCESS = {
  public: 'Open to everybody.',
  basic: 'Needs a token of the Basic tier or above.',
  premium: 'Needs a token of the Premium tier.',
  paid: 'Needs a payment by x402 with the request itself: without one it answers 402 with the terms, whatever it would say.',
  admin: 'For the operator; nothing is served here unless credentials are configured.',
} as const;

const COST = {
  normal: '',
  rpc: 'Counts against the stricter limit of calls that make the service ask the chain.',
  free: 'Not counted against any limit.',
} as const;

function buildDescription({ description, access, cost }: Route): string {
  const rules = [ACCESS[access], COST[cost]].filter((sentence) => sentence !== '').join(' ');
  return description === undefined ? rules : `${description}\n\n${rules}`;
}

function buildRequestBody({ name, bodyOptional }: Route, schema: z.ZodType): ZodOpenApiRequestBodyObject {
  const example = EXAMPLES.requests[name];
  return {
    ...(bodyOptional === true ? {} : { required: true as const }),
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}
