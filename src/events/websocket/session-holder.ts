import type { Caller, Tier } from '../../auth/caller.ts';

export interface SessionHolder {
  caller: Caller;
  /** Null for an API key without an end of its own. */
  expiresAt: Date | null;
}

/** Tier of a live session or API key; `unknown` while the chain is unreachable. */
export type SessionEntitlement = Tier | 'ended' | 'unknown';
