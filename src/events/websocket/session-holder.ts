import type { Caller, Tier } from '../../auth/caller.ts';

export interface SessionHolder {
  caller: Caller;
  expiresAt: Date;
}

/** Tier of a live session; `unknown` while the chain is unreachable. */
export type SessionEntitlement = Tier | 'ended' | 'unknown';
