import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../../../platform/errors.ts';
import { type CollectionIndexes, isFirstWrite } from '../../../../platform/mongo.ts';

/** A deployment that was sent, or was about to be. `_id` is the key of its settlement. */
interface DeploymentDoc {
  _id: string;
  at: Date;
}

const COLLECTION = 'x402_deployments';
const AT_KEY = { at: -1 } as const;
const DAY_MS = 86_400_000;

export const DEPLOYMENT_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: AT_KEY, expireAfterSeconds: (2 * DAY_MS) / 1_000 }] },
] as const satisfies CollectionIndexes[];

/** Deployments of payers' wallets within 24 hours, over all processes: each costs gas, also where its transfer fails. */
export class DeploymentBudget {
  readonly #deployments: Collection<DeploymentDoc>;
  readonly #maxPerDay: number;

  constructor(db: Db, maxPerDay: number) {
    this.#deployments = db.collection(COLLECTION);
    this.#maxPerDay = maxPerDay;
  }

  /** @throws OracleError STEP_WAITING when the budget is used up */
  async requireRoom(now: Date): Promise<void> {
    if ((await this.#count(now)) >= this.#maxPerDay) throw await this.#usedUpError(now);
  }

  /** Once per settlement: a repetition continues it. @throws OracleError STEP_WAITING when the budget is used up */
  async reserve(key: string, now: Date): Promise<void> {
    if (!(await isFirstWrite(this.#deployments.insertOne({ _id: key, at: now })))) return;
    // Counted after the write, so that concurrent reservations never exceed the budget together.
    if ((await this.#count(now)) <= this.#maxPerDay) return;
    await this.release(key);
    throw await this.#usedUpError(now);
  }

  /** For a deployment that was not signed. */
  async release(key: string): Promise<void> {
    await this.#deployments.deleteOne({ _id: key });
  }

  #count(now: Date): Promise<number> {
    return this.#deployments.countDocuments({ at: { $gt: new Date(now.getTime() - DAY_MS) } }, { hint: AT_KEY });
  }

  async #usedUpError(now: Date): Promise<OracleError> {
    const [oldest] = await this.#deployments
      .find()
      .sort(AT_KEY)
      .skip(Math.max(0, this.#maxPerDay - 1))
      .limit(1)
      .toArray();
    const freeAtMs = (oldest?.at ?? now).getTime() + DAY_MS;
    return new OracleError('STEP_WAITING', `No more contract wallets are deployed for payers today (${this.#maxPerDay} in 24 hours)`, {
      suggestedAction: 'Deploy the wallet first, as its first transaction does, or pay from another wallet. Nothing was charged.',
      retryAfterSeconds: Math.max(60, Math.ceil((freeAtMs - now.getTime()) / 1_000)),
    });
  }
}
