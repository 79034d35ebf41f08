import type { Caller, Tier } from '../../auth/caller.ts';

/** Whom a connection belongs to: the caller of a session, with its wallet and id, until its token expires. */
export interface SessionHolder {
  caller: Caller;
  expiresAt: Date;
}

/** What a session is worth now: a tier, or that it has ended, or that it cannot be told, since the chain does not answer. */
export type SessionEntitlement = Tier | 'ended' | 'unknown';
