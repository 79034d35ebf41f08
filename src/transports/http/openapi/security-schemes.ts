import type { oas31 } from 'zod-openapi';
import type { AccessLevel, Route } from '../server/route.ts';

const buildApiKey = (place: 'query' | 'header', name: string, description: string): oas31.SecuritySchemeObject => ({
  type: 'apiKey',
  in: place,
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
  webSocketToken: buildApiKey('query', 'token', 'The same token, where a WebSocket client cannot send a header.'),
  webSocketTicket: buildApiKey(
    'query',
    'ticket',
    'Ticket of POST /api/svc/ws/ticket: it opens one WebSocket and keeps the token out of the URL.',
  ),
  x402: buildApiKey(
    'header',
    'PAYMENT-SIGNATURE',
    'x402 version 2 payment for this request: base64 JSON, created from the requirements in PAYMENT-REQUIRED.',
  ),
  x402V1: buildApiKey('header', 'X-PAYMENT', 'The same in version 1, for the requirements in the body of the 402.'),
  x402Payment: buildApiKey('header', 'X-402-Payment', 'The same in either version.'),
  operator: { type: 'http', scheme: 'basic', description: 'Credentials of the operator.' },
} satisfies Record<string, oas31.SecuritySchemeObject>;

const REQUIREMENTS: Record<AccessLevel, oas31.SecurityRequirementObject[]> = {
  // Optional: a token changes the answer.
  public: [{}, { walletToken: [] }],
  basic: [{ walletToken: [] }],
  premium: [{ walletToken: [] }],
  paid: [{ x402: [] }, { x402V1: [] }, { x402Payment: [] }],
  admin: [{ operator: [] }],
};

/** Unmetered public operations ignore credentials. */
export function skipsAuthentication({ access, cost }: Pick<Route, 'access' | 'cost'>): boolean {
  return access === 'public' && cost === 'free';
}

/** None where a token changes nothing but the rate limit. */
export function getSecurityRequirements(
  route: Pick<Route, 'access' | 'isWebSocket' | 'variesByCaller' | 'isSold' | 'ownerOnly'>,
): oas31.SecurityRequirementObject[] {
  if (route.ownerOnly === true) return [{ walletToken: [] }];
  if (route.isSold === true) return [...REQUIREMENTS[route.access], ...REQUIREMENTS.paid];
  if (route.isWebSocket === true) return [...REQUIREMENTS[route.access], { webSocketToken: [] }, { webSocketTicket: [] }];
  return route.access === 'public' && route.variesByCaller !== true ? [] : REQUIREMENTS[route.access];
}
