import type { oas31 } from 'zod-openapi';
import type { Access, Route } from '../route.ts';

/** How callers prove who they are (interface, section 5). */
export const SECURITY_SCHEMES = {
  walletToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Token from POST /api/svc/oracle/verify; it lasts 30 minutes and carries the tier that the balance of gate tokens opens.',
  },
  operator: { type: 'http', scheme: 'basic', description: "The operator's own credentials." },
} satisfies Record<string, oas31.SecuritySchemeObject>;

const REQUIREMENTS: Record<Access, oas31.SecurityRequirementObject[]> = {
  // A token is welcome everywhere: what is gated for the public is told to its tier.
  public: [{}, { walletToken: [] }],
  basic: [{ walletToken: [] }],
  premium: [{ walletToken: [] }],
  admin: [{ operator: [] }],
};

/** What is open and counted against no limit is answered without a look at who asks. */
export function asksNobody({ access, cost }: Pick<Route, 'access' | 'cost'>): boolean {
  return access === 'public' && cost === 'free';
}

/** What an operation asks of its caller. */
export function securityOf(route: Pick<Route, 'access' | 'cost'>): oas31.SecurityRequirementObject[] {
  return asksNobody(route) ? [] : REQUIREMENTS[route.access];
}
