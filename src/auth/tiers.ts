import { type Address, formatUnits } from 'viem';
import type { Chain } from '../chain/client.ts';
import { readConfirmedGateBalance, readGateDecimals } from '../chain/contracts.ts';
import { readBlockNumber, withChainTimeout } from '../chain/rpc.ts';
import { OracleError } from '../errors.ts';
import { type Caller, TIERS, type Tier } from './caller.ts';

/** Whole gate tokens that a tier requires (interface, section 1). */
export const TIER_REQUIREMENTS = { basic: 500_000_000n, premium: 1_000_000_000n } as const;

export type PaidTier = keyof typeof TIER_REQUIREMENTS;

/** The highest tier that a balance grants. @param balance in the token's smallest unit */
export function toTier(balance: bigint, decimals: number): Tier {
  const unit = 10n ** BigInt(decimals);
  if (balance >= TIER_REQUIREMENTS.premium * unit) return 'premium';
  return balance >= TIER_REQUIREMENTS.basic * unit ? 'basic' : 'public';
}

export function isTierAtLeast(tier: Tier, required: Tier): boolean {
  return TIERS.indexOf(tier) >= TIERS.indexOf(required);
}

export function lowerTier(one: Tier, other: Tier): Tier {
  return isTierAtLeast(one, other) ? other : one;
}

/** Written once: to group the digits of a number costs more than to check a tier. After `a wallet that holds`. */
const formatTokens = (tier: PaidTier) => `at least ${TIER_REQUIREMENTS[tier].toLocaleString('en-US')} gate tokens`;
const formatPlace = (tier: PaidTier) => `a place on the operator's list for the ${tier} tier`;
const REQUIREMENT_TEXTS = {
  token: { basic: formatTokens('basic'), premium: formatTokens('premium') },
  list: { basic: formatPlace('basic'), premium: formatPlace('premium') },
};

/** What grants the tiers: a process serves one deployment. */
let gate: keyof typeof REQUIREMENT_TEXTS = 'token';

export function setGate(kind: typeof gate): void {
  gate = kind;
}

/** E.g. `at least 500,000,000 gate tokens`. */
export function formatTierRequirement(tier: PaidTier): string {
  return REQUIREMENT_TEXTS[gate][tier];
}

/** Whole gate tokens, decimal digits; null without a gate token. */
export function getRequiredBalance(tier: PaidTier): string | null {
  return gate === 'token' ? String(TIER_REQUIREMENTS[tier]) : null;
}

/** @param balance whole tokens as an exact decimal; null when it was not read */
export function tierRequired(
  required: PaidTier,
  { tier, balance, alternative = '' }: { tier: Tier; balance: string | null; alternative?: string },
): OracleError {
  const requirement = formatTierRequirement(required);
  return new OracleError('TIER_REQUIRED', `This requires the ${required} tier; the wallet has ${tier}`, {
    suggestedAction: `Log in with a wallet that holds ${requirement}. ${alternative}`.trim(),
    details: { tier, requiredTier: required, requirement, requiredBalance: getRequiredBalance(required), balance },
  });
}

/** @throws OracleError UNAUTHENTICATED for an anonymous caller, with the reason for a rejected token; TIER_REQUIRED for a lower tier */
export function requireTier({ tier, wallet, balance, rejectedToken }: Caller, required: PaidTier, alternative = ''): void {
  if (isTierAtLeast(tier, required)) return;
  if (wallet !== undefined) throw tierRequired(required, { tier, balance: balance ?? null, alternative });
  throw new OracleError('UNAUTHENTICATED', rejectedToken ?? 'This needs an access token', {
    field: 'Authorization',
    suggestedAction:
      `Log in with a wallet that holds ${formatTierRequirement(required)}: POST /api/svc/oracle/verify, or make an API key at /access; then send Authorization: Bearer <token>. ${alternative}`.trim(),
  });
}

export interface GateReading {
  tier: Tier;
  /** Whole gate tokens as an exact decimal; `0` without a gate token. */
  balance: string;
  blockNumber: number;
}

/** Reads the tier of a wallet: by its gate balance, or from the operator's list. @throws OracleError CHAIN_UNREACHABLE, after three seconds at most */
export type ReadGateBalance = (wallet: Address) => Promise<GateReading>;

const GATE_READ_TIMEOUT_MS = 3_000;

export function createGateReader(chain: Chain): ReadGateBalance {
  let knownDecimals: number | undefined;
  return (wallet) =>
    withChainTimeout(GATE_READ_TIMEOUT_MS, 'Reading the gate balance', async () => {
      const listed = chain.gateWallets?.get(wallet.toLowerCase()) ?? 'public';
      if (chain.gateWallets !== undefined) return { tier: listed, balance: '0', blockNumber: Number(await readBlockNumber(chain)) };
      knownDecimals ??= await readGateDecimals(chain);
      const { balance, blockNumber } = await readConfirmedGateBalance(chain, wallet);
      return { tier: toTier(balance, knownDecimals), balance: formatUnits(balance, knownDecimals), blockNumber };
    });
}
