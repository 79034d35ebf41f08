import type { Collection, Db } from 'mongodb';
import { DAY_MS, toDay } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import { type CollectionIndexes, isDuplicateKey } from '../../../platform/mongo.ts';

/** Events that can be replayed for a wallet in a UTC day: whoever asks for the whole log again and again fills the store. */
export const MAX_REPLAYED_EVENTS_PER_DAY = 10_000;

/** Tests that a wallet can ask for in a UTC day: each of them calls somebody, and is written down. */
export const MAX_TESTS_PER_DAY = 500;

const QUOTAS = {
  replay: {
    limit: MAX_REPLAYED_EVENTS_PER_DAY,
    message: `At most ${MAX_REPLAYED_EVENTS_PER_DAY} events can be replayed for a wallet in a UTC day`,
    suggestedAction: 'Ask for fewer events, or tomorrow.',
  },
  test: {
    limit: MAX_TESTS_PER_DAY,
    message: `A wallet can test its webhooks ${MAX_TESTS_PER_DAY} times in a UTC day`,
    suggestedAction: 'Test again tomorrow; GET /api/svc/webhooks/{id}/deliveries shows how events get through meanwhile.',
  },
} as const;

type QuotaName = keyof typeof QUOTAS;

/** What a wallet has used of something on a day. `_id` is `<use>:<wallet>:<day>`. */
interface DailyQuotaDoc {
  _id: string;
  used: number;
  /** From then on nobody asks for it. */
  expiresAt: Date;
}

/** What was taken, to be given back. */
export type QuotaGrant = Pick<DailyQuotaDoc, '_id'>;

interface QuotaRequest {
  use: QuotaName;
  /** In lower case. */
  wallet: string;
  count: number;
}

const COLLECTION = 'webhook_daily_use';
const BY_EXPIRY = { expiresAt: 1 } as const;
const BY_ID = { hint: { _id: 1 } } as const;

export const DAILY_QUOTA_INDEXES = [{ collection: COLLECTION, indexes: [{ key: BY_EXPIRY }] }] as const satisfies CollectionIndexes[];

/** What wallets use of what costs something, by UTC day: of the wallets, since a webhook is deleted and registered again in no time. */
export class DailyQuotaStore {
  readonly #quotas: Collection<DailyQuotaDoc>;

  constructor(db: Db) {
    this.#quotas = db.collection(COLLECTION);
  }

  /** Counts so many to a wallet's day, all of them or none. @throws OracleError RATE_LIMITED beyond what a day has */
  async consume({ use, wallet, count }: QuotaRequest, now: Date): Promise<QuotaGrant> {
    const day = toDay(now.getTime());
    const grant = { _id: `${use}:${wallet}:${day}` };
    const { limit } = QUOTAS[use];
    await this.#ensureRow(grant, new Date((day + 1) * DAY_MS));
    const within = { ...grant, used: { $lte: limit - count } };
    const { modifiedCount } = await this.#quotas.updateOne(within, { $inc: { used: count } }, BY_ID);
    if (modifiedCount === 0) throw await this.#createQuotaError(use, grant, now);
    return grant;
  }

  async refund({ _id }: QuotaGrant, count: number): Promise<void> {
    if (count > 0) await this.#quotas.updateOne({ _id }, { $inc: { used: -count } }, BY_ID);
  }

  /** Deletes the days that are over: for a job. */
  async purge(now: Date): Promise<void> {
    await this.#quotas.deleteMany({ expiresAt: { $lte: now } }, { hint: BY_EXPIRY });
  }

  async #ensureRow({ _id }: QuotaGrant, expiresAt: Date): Promise<void> {
    try {
      await this.#quotas.updateOne({ _id }, { $setOnInsert: { used: 0, expiresAt } }, { upsert: true, ...BY_ID });
    } catch (error) {
      // Two at once were the first of the day.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  async #createQuotaError(use: QuotaName, { _id }: QuotaGrant, now: Date): Promise<OracleError> {
    const { limit, message, suggestedAction } = QUOTAS[use];
    const used = (await this.#quotas.findOne({ _id }, BY_ID))?.used ?? 0;
    return new OracleError('RATE_LIMITED', message, {
      suggestedAction,
      details: { limit, used },
      retryAfterSeconds: Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000),
    });
  }
}
