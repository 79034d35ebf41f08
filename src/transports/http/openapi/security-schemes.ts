import type { oas31 } from 'zod-openapi';
import type { AccessLevel, Route } from '../server/route.ts';

/** How callers prove who they are (interface, section 5). */
export const SECURITY_SCHEMES = {
  walletToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Token from POST /api/svc/oracle/verify; it lasts 30 minutes and carries the tier that the balance of gate tokens opens.',
  },
  webSocketToken: { type: 'apiKey', in: 'query', name: 'token', description: 'The same token, where a WebSocket cannot send a header.' },
  webSocketTicket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'Ticket from POST /api/svc/ws/ticket: it opens one WebSocket, and keeps the token out of its URL.',
  },
  x402: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description:
      'Payment of x402 version 2 for this very request: base64 of its JSON, as any x402 client makes it of the terms in PAYMENT-REQUIRED.',
  },
  x402V1: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description: 'The same in version 1, of the terms in the body of the 402.',
  },
  x402Payment: { type: 'apiKey', in: 'header', name: 'X-402-Payment', description: 'The same in either version.' },
  operator: { type: 'http', scheme: 'basic', description: "The operator's own credentials." },
} satisfies Record<string, oas31.SecuritySchemeObject>;

const REQUIREMENTS: Record<AccessLevel, oas31.SecurityRequirementObject[]> = {
  // A token is welcome everywhere: what is gated for the public is told to its tier.
  public: [{}, { walletToken: [] }],
  basic: [{ walletToken: [] }],
  premium: [{ walletToken: [] }],
  paid: [{ x402: [] }, { x402V1: [] }, { x402Payment: [] }],
  admin: [{ operator: [] }],
};

/** What is open and counted against no limit is answered without a look at who asks. */
export function skipsAuthentication({ access, cost }: Pick<Route, 'access' | 'cost'>): boolean {
  return access === 'public' && cost === 'free';
}

/** What an operation asks of its caller. */
export function getSecurityRequirements(route: Pick<Route, 'access' | 'cost' | 'isWebSocket'>): oas31.SecurityRequirementObject[] {
  if (route.isWebSocket === true) return [...REQUIREMENTS[route.access], { webSocketToken: [] }, { webSocketTicket: [] }];
  return skipsAuthentication(route) ? [] : REQUIREMENTS[route.access];
}
