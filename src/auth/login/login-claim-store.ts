import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { type CollectionIndexes, isDuplicateKey } from '../../platform/mongo.ts';

interface LoginClaimDoc {
  _id: string;
  /** Who took it: only he may give it back. */
  claimId: string;
  expiresAt: Date;
}

export const LOGIN_CLAIM_INDEXES = [
  { collection: 'login_claims', indexes: [{ key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** Things that may be used once, in whichever process. */
export class LoginClaimStore {
  readonly #claims: Collection<LoginClaimDoc>;

  constructor(db: Db) {
    this.#claims = db.collection('login_claims');
  }

  /** Gives a thing up again; null when it was taken before. `expiresAt`: from when on it cannot be used anyway. */
  async acquire(key: string, expiresAt: Date): Promise<(() => Promise<void>) | null> {
    const claimId = randomUUID();
    try {
      await this.#claims.insertOne({ _id: key, claimId, expiresAt });
    } catch (error) {
      if (isDuplicateKey(error)) return null;
      throw error;
    }
    return async () => {
      await this.#claims.deleteOne({ _id: key, claimId });
    };
  }

  async purge(now: Date): Promise<void> {
    await this.#claims.deleteMany({ expiresAt: { $lte: now } });
  }
}
