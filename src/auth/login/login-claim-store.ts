import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { CollectionIndexes } from '../../platform/mongo.ts';
import { insertFirst } from '../../platform/uncertain-write.ts';

interface LoginClaimDoc {
  _id: string;
  /** Identifies the claimant: only it may release the claim. */
  claimId: string;
  expiresAt: Date;
}

export const LOGIN_CLAIM_INDEXES = [
  { collection: 'login_claims', indexes: [{ key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

export class LoginClaimStore {
  readonly #claims: Collection<LoginClaimDoc>;

  constructor(db: Db) {
    this.#claims = db.collection('login_claims');
  }

  /** Returns the function that releases the claim, or null when it is taken. @param expiresAt from then on the message is invalid anyway */
  async acquire(key: string, expiresAt: Date): Promise<(() => Promise<void>) | null> {
    const claimId = randomUUID();
    if (!(await insertFirst(this.#claims, { _id: key, claimId, expiresAt }, 'claimId'))) return null;
    return async () => {
      await this.#claims.deleteOne({ _id: key, claimId });
    };
  }

  async purge(now: Date): Promise<void> {
    await this.#claims.deleteMany({ expiresAt: { $lte: now } });
  }
}
