import type { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiRequestBodyObject } from 'zod-openapi';
import { formatAmount } from '../../../commerce/money.ts';
import type { Offering } from '../../../commerce/price-list.ts';
import type { Route } from '../server/route.ts';
import { EXAMPLES } from './examples.ts';
import { buildReplies } from './replies.ts';
import { getSecurityRequirements } from './security-schemes.ts';

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
    requestParams: { ...(params === undefined ? {} : { path: params }), ...(query === undefined ? {} : { query }) },
    ...(body === undefined ? {} : { requestBody: buildRequestBody(route, body) }),
    responses: buildReplies(route),
  };
}

/** Extension that crawlers of paid operations read. */
function buildPaymentInfo({ price }: Offering) {
  return { price: { mode: 'fixed', currency: price.asset, amount: formatAmount(price) }, protocols: [{ x402: {} }] };
}

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

function buildRequestBody({ name, bodyOptional }: Route, schema: z.ZodType): ZodOpenApiRequestBodyObject {
  const example = EXAMPLES.requests[name];
  return {
    ...(bodyOptional === true ? {} : { required: true as const }),
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}
