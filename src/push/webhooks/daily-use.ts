import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { DAY_MS, dayOf } from '../../forecast/day.ts';
import { type CollectionIndexes, isDuplicateKey } from '../../mongo.ts';

/** Events that can be replayed for a wallet in a UTC day: whoever asks for the whole log again and again fills the store. */
export const REPLAYED_A_DAY = 10_000;

/** Tests that a wallet can ask for in a UTC day: each of them calls somebody, and is written down. */
export const TESTS_A_DAY = 500;

const USES = {
  replay: {
    limit: REPLAYED_A_DAY,
    message: `At most ${REPLAYED_A_DAY} events can be replayed for a wallet in a UTC day`,
    suggestedAction: 'Ask for fewer events, or tomorrow.',
  },
  test: {
    limit: TESTS_A_DAY,
    message: `A wallet can test its webhooks ${TESTS_A_DAY} times in a UTC day`,
    suggestedAction: 'Test again tomorrow; GET /api/svc/webhooks/{id}/deliveries shows how events get through meanwhile.',
  },
} as const;

type Use = keyof typeof USES;

/** What a wallet has used of something on a day. `_id` is `<use>:<wallet>:<day>`. */
interface DailyUseDoc {
  _id: string;
  used: number;
  /** From then on nobody asks for it. */
  expiresAt: Date;
}

/** What was taken, to be given back. */
export type Taken = Pick<DailyUseDoc, '_id'>;

interface Wanted {
  use: Use;
  /** In lower case. */
  wallet: string;
  count: number;
}

const COLLECTION = 'webhook_daily_use';
const BY_END = { expiresAt: 1 } as const;
const BY_ID = { hint: { _id: 1 } } as const;

export const DAILY_USE_INDEXES = [{ collection: COLLECTION, indexes: [{ key: BY_END }] }] as const satisfies CollectionIndexes[];

/** What wallets use of what costs something, by UTC day: of the wallets, since a webhook is deleted and registered again in no time. */
export class DailyUse {
  readonly #uses: Collection<DailyUseDoc>;

  constructor(db: Db) {
    this.#uses = db.collection(COLLECTION);
  }

  /** Counts so many to a wallet's day, all of them or none. @throws OracleError RATE_LIMITED beyond what a day has */
  async take({ use, wallet, count }: Wanted, now: Date): Promise<Taken> {
    const day = dayOf(now.getTime());
    const taken = { _id: `${use}:${wallet}:${day}` };
    const { limit } = USES[use];
    await this.#begin(taken, new Date((day + 1) * DAY_MS));
    const within = { ...taken, used: { $lte: limit - count } };
    const { modifiedCount } = await this.#uses.updateOne(within, { $inc: { used: count } }, BY_ID);
    if (modifiedCount === 0) throw await this.#spent(use, taken, now);
    return taken;
  }

  async giveBack({ _id }: Taken, count: number): Promise<void> {
    if (count > 0) await this.#uses.updateOne({ _id }, { $inc: { used: -count } }, BY_ID);
  }

  /** Deletes the days that are over: for a job. */
  async purge(now: Date): Promise<void> {
    await this.#uses.deleteMany({ expiresAt: { $lte: now } }, { hint: BY_END });
  }

  async #begin({ _id }: Taken, expiresAt: Date): Promise<void> {
    try {
      await this.#uses.updateOne({ _id }, { $setOnInsert: { used: 0, expiresAt } }, { upsert: true, ...BY_ID });
    } catch (error) {
      // Two at once were the first of the day.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  async #spent(use: Use, { _id }: Taken, now: Date): Promise<OracleError> {
    const { limit, message, suggestedAction } = USES[use];
    const used = (await this.#uses.findOne({ _id }, BY_ID))?.used ?? 0;
    return new OracleError('RATE_LIMITED', message, {
      suggestedAction,
      details: { limit, used },
      retryAfterSeconds: Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000),
    });
  }
}
