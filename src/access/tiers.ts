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

/** In words, e.g. `at least 500,000,000 gate tokens`. */
export function requirementOf(tier: PaidTier): string {
  return `at least ${TIER_REQUIREMENTS[tier].toLocaleString('en-US')} gate tokens`;
}

/** @throws OracleError UNAUTHENTICATED for an anonymous caller, TIER_REQUIRED for one of a lower tier. */
export function requireTier({ tier, wallet }: Caller, required: PaidTier): void {
  if (TIERS.indexOf(tier) >= TIERS.indexOf(required)) return;
  if (wallet === undefined) {
    throw new OracleError('UNAUTHENTICATED', 'This needs an access token', {
      field: 'Authorization',
      suggestedAction: `Log in with a wallet that holds ${requirementOf(required)}: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>.`,
    });
  }
  throw new OracleError('TIER_REQUIRED', `This needs the ${required} tier; the wallet has ${tier}`, {
    field: 'Authorization',
    suggestedAction: `Log in with a wallet that holds ${requirementOf(required)}.`,
    details: { tier, requiredTier: required, requirement: requirementOf(required) },
  });
}
