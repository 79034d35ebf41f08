import { lowerTier, type PaidTier } from '../tiers/tiers.ts';

/** Scopes of access tokens, by the tier that each allows. */
export const TIER_SCOPES = { basic: 'forecast:basic', premium: 'forecast:premium' } as const satisfies Record<PaidTier, string>;

export const FORECAST_SCOPES: readonly string[] = Object.values(TIER_SCOPES);

/** Asks for a refresh token. It is granted with any scope, since a client can refresh without it too. */
export const OFFLINE_SCOPE = 'offline_access';

/** Of a request that names no scope of this service (RFC 6749, section 3.3). */
export const DEFAULT_SCOPE = TIER_SCOPES.basic;

/** The scopes of a request that this service knows; the default where it names none for forecasts. */
export function toKnownScope(scope: string | undefined): string {
  const names = (scope ?? '').split(' ').filter((name) => FORECAST_SCOPES.includes(name) || name === OFFLINE_SCOPE);
  return [...new Set(names.some((name) => FORECAST_SCOPES.includes(name)) ? names : [DEFAULT_SCOPE, ...names])].join(' ');
}

/** The highest tier that a scope allows; null without a scope of this service. */
export function toScopeTier(scope: string | undefined): PaidTier | null {
  const names = new Set(scope?.split(' '));
  if (names.has(TIER_SCOPES.premium)) return 'premium';
  return names.has(TIER_SCOPES.basic) ? 'basic' : null;
}

/** The scopes of a request that a wallet of this tier can grant, separated by spaces; empty when it can grant none. */
export function toGrantedScope(requested: string | undefined, walletTier: PaidTier): string {
  const requestedTier = toScopeTier(requested);
  if (requestedTier === null) return '';
  return lowerTier(requestedTier, walletTier) === 'premium' ? FORECAST_SCOPES.join(' ') : TIER_SCOPES.basic;
}
