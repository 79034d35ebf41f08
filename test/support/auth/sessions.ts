import type { Db } from 'mongodb';
import { type Address, getAddress, toHex } from 'viem';
import { SessionStore } from '../../../src/auth/auth.ts';
import { TIER_REQUIREMENTS } from '../../../src/auth/tiers.ts';
import { AccessTokens, TOKEN_LIFETIME_SECONDS, type TokenKeyStore } from '../../../src/auth/tokens.ts';

/** Less than the time for which a balance counts as read just now. */
const REFRESH_MS = 40_000;

export interface SessionOpener {
  db: Db;
  keys: TokenKeyStore;
  issuer: string;
  now(): Date;
}

/** Some wallet, the same for the same number. */
export function walletOf(number: number): Address {
  return getAddress(toHex(number + 1, { size: 20 }));
}

/** Lets no balance be read again: the sessions of `openSession` have none on any chain. */
export function keepReadingsFresh({ db, now }: Pick<SessionOpener, 'db' | 'now'>): NodeJS.Timeout {
  const refresh = () => db.collection('sessions').updateMany({}, { $set: { gateReadAt: now() } });
  return setInterval(() => void refresh().catch(reportFailure), REFRESH_MS).unref();
}

function reportFailure(error: unknown): void {
  process.stderr.write(`the readings of balances could not be kept fresh: ${String(error)}\n`);
}

/** A live Premium session in the store, and its token. Not by login, which is a signature and a reading of the chain. */
export async function openSession({ db, keys, issuer, now }: SessionOpener, wallet: Address): Promise<string> {
  const createdAt = now();
  const sessionId = SessionStore.createId();
  await new SessionStore(db).insert({
    ...{ _id: sessionId, wallet, tier: 'premium', createdAt },
    gate: { tier: 'premium', balance: String(TIER_REQUIREMENTS.premium), blockNumber: 1 },
    gateReadAt: createdAt,
    expiresAt: new Date(createdAt.getTime() + TOKEN_LIFETIME_SECONDS * 1_000),
  });
  const { token } = await new AccessTokens({ keys, issuer, now }).issue({ sessionId, wallet, tier: 'premium' });
  return token;
}
