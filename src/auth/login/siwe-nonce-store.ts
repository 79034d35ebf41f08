import { randomBytes } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { CollectionIndexes } from '../../platform/mongo.ts';
import { insertFirst } from '../../platform/uncertain-write.ts';
import { LOGIN_WINDOW_MS } from './login-message.ts';

export const SIWE_NONCE_INDEXES = [
  { collection: 'login_nonces', indexes: [{ key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** Nonces for EIP-4361 messages. `LoginClaimStore` enforces single use. */
export class SiweNonceStore {
  readonly #nonces: Collection<{ _id: string; expiresAt: Date }>;

  constructor(db: Db) {
    this.#nonces = db.collection('login_nonces');
  }

  async issue(now: Date): Promise<{ nonce: string; expiresAt: Date }> {
    const nonce = randomBytes(16).toString('hex');
    const expiresAt = new Date(now.getTime() + LOGIN_WINDOW_MS);
    await insertFirst(this.#nonces, { _id: nonce, expiresAt }, '_id');
    return { nonce, expiresAt };
  }

  /** Expiry of a nonce; null when it is unknown or expired. */
  async findExpiry(nonce: string, now: Date): Promise<Date | null> {
    const known = await this.#nonces.findOne({ _id: nonce });
    return known === null || known.expiresAt <= now ? null : known.expiresAt;
  }

  async purge(now: Date): Promise<void> {
    await this.#nonces.deleteMany({ expiresAt: { $lte: now } });
  }
}
