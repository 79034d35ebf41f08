import type { Address } from 'viem';

/** Who asks, as far as the record and the doors care. */
export interface Caller {
  tier: Tier;
  /** The wallet that logged in; unset for an anonymous caller. */
  wallet?: Address;
  /** The session that the caller's token belongs to; unset for an anonymous caller. */
  sessionId?: string;
  /** Gate tokens of the wallet when last read: whole tokens, an exact decimal. */
  balance?: string;
  /** Why the token that came with the request was rejected: the caller is served as an anonymous one. */
  rejectedToken?: string;
  /** True when this very answer has been paid for. */
  paid?: boolean;
}

/** In rising order. */
export const TIERS = ['public', 'basic', 'premium'] as const;

export type Tier = (typeof TIERS)[number];

export const PUBLIC_CALLER: Caller = { tier: 'public' };

/** True for a caller who is told what everybody is told: answers to him may be kept and shared. */
export function isPublicCaller({ tier, paid }: Caller): boolean {
  return tier === 'public' && paid !== true;
}
