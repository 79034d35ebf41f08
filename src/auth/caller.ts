import type { Address } from 'viem';

export interface Caller {
  tier: Tier;
  /** Authenticated wallet; unset for an anonymous caller. */
  wallet?: Address;
  /** Session of the access token; unset for an anonymous caller and for an API key. */
  sessionId?: string;
  /** API key of the request. */
  keyId?: string;
  balance?: string;
  /** Why the request's token was rejected; the caller is served as an anonymous one. */
  rejectedToken?: string;
  /** True when this response has been paid for. */
  paid?: boolean;
}

export const TIERS = ['public', 'basic', 'premium'] as const;

export type Tier = (typeof TIERS)[number];

export const PUBLIC_CALLER: Caller = { tier: 'public' };

/** A payer of a single answer sees that answer and no other gated value. */
export const PAYING_CALLER: Caller = { tier: 'public', paid: true };

/** Id of the session or the API key of a request; undefined for an anonymous caller. */
export function getCredentialId({ sessionId, keyId }: Caller): string | undefined {
  return sessionId ?? keyId;
}

/** True when the response is identical for every anonymous client, and may be cached and shared. */
export function isPublicCaller({ tier, paid }: Caller): boolean {
  return tier === 'public' && paid !== true;
}
