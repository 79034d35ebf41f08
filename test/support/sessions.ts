import type { Db } from 'mongodb';
import { type Address, getAddress, toHex } from 'viem';
import { Sessions } from '../../src/access/sessions.ts';
import { TIER_REQUIREMENTS } from '../../src/access/tiers.ts';
import { TOKEN_LIFETIME_SECONDS, type TokenKeys } from '../../src/access/token-keys.ts';
import { Tokens } from '../../src/access/tokens.ts';

/** Balances are not read again meanwhile: whoever opens sessions this way has no balance on any chain. */
const FRESH_UNTIL_MS = 60 * 60_000;

export interface SessionOpener {
  db: Db;
  keys: TokenKeys;
  issuer: string;
  now(): Date;
}

/** Some wallet, the same for the same number. */
export function walletOf(number: number): Address {
  return getAddress(toHex(number + 1, { size: 20 }));
}

/** A live Premium session in the store, and its token. Not by login, which is a signature and a reading of the chain. */
export async function openSession({ db, keys, issuer, now }: SessionOpener, wallet: Address): Promise<string> {
  const createdAt = now();
  const sessionId = Sessions.newId();
  await new Sessions(db).open({
    ...{ _id: sessionId, wallet, tier: 'premium', createdAt },
    gate: { tier: 'premium', balance: String(TIER_REQUIREMENTS.premium), blockNumber: 1 },
    gateReadAt: new Date(createdAt.getTime() + FRESH_UNTIL_MS),
    expiresAt: new Date(createdAt.getTime() + TOKEN_LIFETIME_SECONDS * 1_000),
  });
  const { token } = await new Tokens({ keys, issuer, now }).issue({ sessionId, wallet, tier: 'premium' });
  return token;
}
