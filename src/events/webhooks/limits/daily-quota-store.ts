import type { Collection, Db } from 'mongodb';
import { DAY_MS, toDay } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import { type CollectionIndexes, ignoreDuplicate } from '../../../platform/mongo.ts';

/** Replayed events per wallet and UTC day: repeated replays of the whole log would fill the database. */
export const MAX_REPLAYED_EVENTS_PER_DAY = 10_000;
/** Tests per wallet and UTC day: each calls a receiver and is stored. */
export const MAX_TESTS_PER_DAY = 500;

const QUOTAS = {
  replay: {
    limit: MAX_REPLAYED_EVENTS_PER_DAY,
    message: `At most ${MAX_REPLAYED_EVENTS_PER_DAY} events can be replayed for a wallet in a UTC day`,
    suggestedAction: 'Request fewer events, or retry tomorrow.',
  },
  test: {
    limit: MAX_TESTS_PER_DAY,
    message: `A wallet can test its webhooks ${MAX_TESTS_PER_DAY} times in a UTC day`,
    suggestedAction: 'Retry tomorrow; GET /api/svc/webhooks/{id}/deliveries shows the deliveries meanwhile.',
  },
} as const;

type QuotaName = keyof typeof QUOTAS;

/** `_id` is `<use>:<wallet>:<day>`. */
interface DailyQuotaDoc {
  _id: string;
  used: number;
  expiresAt: Date;
}

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

/** Daily quotas. Per wallet, not per webhook, since a webhook can be deleted and registered again. */
export class DailyQuotaStore {
  readonly #quotas: Collection<DailyQuotaDoc>;

  constructor(db: Db) {
    this.#quotas = db.collection(COLLECTION);
  }

  /** Consumes `count` of a day's quota, all or nothing. @throws OracleError RATE_LIMITED when the quota is exceeded */
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

  async purge(now: Date): Promise<void> {
    await this.#quotas.deleteMany({ expiresAt: { $lte: now } }, { hint: BY_EXPIRY });
  }

  async #ensureRow({ _id }: QuotaGrant, expiresAt: Date): Promise<void> {
    // Concurrent first requests of a day may conflict.
    await this.#quotas.updateOne({ _id }, { $setOnInsert: { used: 0, expiresAt } }, { upsert: true, ...BY_ID }).catch(ignoreDuplicate);
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
