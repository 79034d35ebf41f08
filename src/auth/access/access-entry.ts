import type { Address } from 'viem';
import type { PaidTier } from '../tiers/tiers.ts';

/** Standing access to the service that a wallet has granted: to a bot by an API key, or to an application by OAuth. */
export interface AccessEntry {
  id: string;
  kind: 'key' | 'application';
  /** Label of the key, or how the application is named: its host, or its own claim in quotation marks. */
  name: string;
  tier: PaidTier;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** Null for access without an end of its own. */
  expiresAt: Date | null;
}

export interface AccessSource {
  /** Live entries of a wallet, newest first. */
  list(wallet: Address): Promise<AccessEntry[]>;
  /** Ends one; false for an id that is not a live one of this wallet. */
  revoke(wallet: Address, id: string): Promise<boolean>;
}
