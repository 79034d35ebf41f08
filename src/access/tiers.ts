import { formatUnits } from 'viem';
import { OracleError } from '../errors.ts';
import { type Caller, TIERS, type Tier } from '../record/caller.ts';

/** Whole gate tokens that open a tier (interface, section 1). */
export const TIER_REQUIREMENTS = { basic: 500_000_000n, premium: 1_000_000_000n } as const;

export type PaidTier = keyof typeof TIER_REQUIREMENTS;

/** The highest tier that a balance opens. @param balance in the token's smallest unit */
export function tierOf(balance: bigint, decimals: number): Tier {
  const unit = 10n ** BigInt(decimals);
  if (balance >= TIER_REQUIREMENTS.premium * unit) return 'premium';
  return balance >= TIER_REQUIREMENTS.basic * unit ? 'basic' : 'public';
}

/** A balance in whole tokens: an exact decimal such as `500000000` or `0.000000000000000001`. @param balance in the smallest unit */
export function wholeTokens(balance: bigint, decimals: number): string {
  return formatUnits(balance, decimals);
}

export function isAtLeast(tier: Tier, required: Tier): boolean {
  return TIERS.indexOf(tier) >= TIERS.indexOf(required);
}

/** The lower of two. */
export function lowerTier(one: Tier, other: Tier): Tier {
  return isAtLeast(one, other) ? other : one;
}

/** In words, e.g. `at least 500,000,000 gate tokens`. */
export function requirementOf(tier: PaidTier): string {
  return `at least ${TIER_REQUIREMENTS[tier].toLocaleString('en-US')} gate tokens`;
}

interface Refused {
  tier: Tier;
  /** In whole tokens, an exact decimal; null where it was not read. */
  balance: string | null;
  /** A sentence on another way to the same. */
  otherwise?: string;
}

/** A wallet that is known, and has too little. */
export function tierRequired(required: PaidTier, { tier, balance, otherwise = '' }: Refused): OracleError {
  const requirement = requirementOf(required);
  return new OracleError('TIER_REQUIRED', `This needs the ${required} tier; the wallet has ${tier}`, {
    suggestedAction: `Log in with a wallet that holds ${requirement}. ${otherwise}`.trim(),
    details: { tier, requiredTier: required, requirement, requiredBalance: String(TIER_REQUIREMENTS[required]), balance },
  });
}

/**
 * @param otherwise a sentence on another way to the same
 * @throws OracleError UNAUTHENTICATED for an anonymous caller, with the reason where a token was rejected; TIER_REQUIRED for a lower tier
 */
export function requireTier({ tier, wallet, balance, rejectedToken }: Caller, required: PaidTier, otherwise = ''): void {
  if (isAtLeast(tier, required)) return;
  if (wallet !== undefined) throw tierRequired(required, { tier, balance: balance ?? null, otherwise });
  throw new OracleError('UNAUTHENTICATED', rejectedToken ?? 'This needs an access token', {
    field: 'Authorization',
    suggestedAction:
      `Log in with a wallet that holds ${requirementOf(required)}: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>. ${otherwise}`.trim(),
  });
}
