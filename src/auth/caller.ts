import type { Address } from 'viem';

export interface Caller {
  tier: Tier;
  /** Authenticated wallet; unset for an anonymous caller. */
  wallet?: Address;
  /** Session of the access token; unset for an anonymous caller. */
  sessionId?: string;
  balance?: string;
  /** Why the request's token was rejected; the caller is served as an anonymous one. */
  rejectedToken?: string;
  /** True when this response has been paid for. */
  paid?: boolean;
}

export const TIERS = ['public', 'basic', 'premium'] as const;

export type Tier = (typeof TIERS)[number];

export const PUBLIC_CALLER: Caller = { tier: 'public' };

/** True when the response is identical for every anonymous client, and may be cached and shared. */
export function isPublicCaller({ tier, paid }: Caller): boolean {
  return tier === 'public' && paid !== true;
}
