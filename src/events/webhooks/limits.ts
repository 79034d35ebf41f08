import { LRUCache } from 'lru-cache';
import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { DAY_MS, MINUTE_MS, toDay } from '../../forecast/day.ts';
import { type CollectionIndexes, ignoreDuplicate } from '../../platform/mongo.ts';
import { getHostname } from '../../platform/outbound/guarded.ts';
import type { WebhookDoc } from './store.ts';

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

/** `_id` is `<use>:<wallet>:<day>`. */
interface DailyQuotaDoc {
  _id: string;
  used: number;
  expiresAt: Date;
}

type QuotaGrant = Pick<DailyQuotaDoc, '_id'>;

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

  /** Consumes `count` of a day's quota, all or nothing. @param wallet in lower case @throws OracleError RATE_LIMITED when the quota is exceeded */
  async consume({ use, wallet, count }: { use: keyof typeof QUOTAS; wallet: string; count: number }, now: Date): Promise<QuotaGrant> {
    const day = toDay(now.getTime());
    const grant = { _id: `${use}:${wallet}:${day}` };
    const { limit, message, suggestedAction } = QUOTAS[use];
    const expiresAt = new Date((day + 1) * DAY_MS);
    // Concurrent first requests of a day may conflict.
    await this.#quotas.updateOne(grant, { $setOnInsert: { used: 0, expiresAt } }, { upsert: true, ...BY_ID }).catch(ignoreDuplicate);
    const within = { ...grant, used: { $lte: limit - count } };
    const { modifiedCount } = await this.#quotas.updateOne(within, { $inc: { used: count } }, BY_ID);
    if (modifiedCount > 0) return grant;
    const used = (await this.#quotas.findOne(grant, BY_ID))?.used ?? 0;
    const retryAfterSeconds = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000);
    throw new OracleError('RATE_LIMITED', message, { suggestedAction, details: { limit, used }, retryAfterSeconds });
  }

  async refund({ _id }: QuotaGrant, count: number): Promise<void> {
    if (count > 0) await this.#quotas.updateOne({ _id }, { $inc: { used: -count } }, BY_ID);
  }

  async purge(now: Date): Promise<void> {
    await this.#quotas.deleteMany({ expiresAt: { $lte: now } }, { hint: BY_EXPIRY });
  }
}

interface PostLimits {
  maxConcurrent: number;
  /** Null: unlimited. */
  perMinute: number | null;
}

export interface HostLimiterOptions extends PostLimits {
  perWallet: PostLimits;
  maxConcurrentPerWallet: number;
  now(): Date;
}

/** `busy` ends with the posts in flight, `spent` with the minute. */
type HostLimitReason = 'busy' | 'spent';

/** A rejected post keeps its place in the queue for so long, more than a worker takes to retry. */
const PLACE_RETENTION_MS = 3_000;

interface PostKeys {
  host: string;
  wallet: string;
  share: string;
}

/** No dead host and no wallet exhausts the share of others. A post rejected because its host was busy goes before later ones. */
export class HostLimiter {
  readonly #inFlight = new Map<string, number>();
  /** By share, in order of arrival. */
  readonly #waiting = new Map<string, { host: string; lastTriedMs: number }>();
  readonly #options: HostLimiterOptions;
  readonly #hosts: HostRateLimit | null;
  readonly #shares: HostRateLimit | null;

  constructor(options: HostLimiterOptions) {
    const { perMinute, perWallet, now } = options;
    this.#options = options;
    this.#hosts = perMinute === null ? null : new HostRateLimit(now, perMinute);
    this.#shares = perWallet.perMinute === null ? null : new HostRateLimit(now, perWallet.perMinute);
  }

  async run<T>({ url, wallet }: Pick<WebhookDoc, 'url' | 'wallet'>, work: () => Promise<T>): Promise<T | HostLimitReason> {
    const host = getHostname(url);
    const keys = { host, wallet, share: `${wallet} ${host}` };
    const rejection = this.#findRejection(keys);
    if (rejection !== null) return rejection;
    this.#changeCount(keys, 1);
    try {
      return await work();
    } finally {
      this.#changeCount(keys, -1);
    }
  }

  #findRejection(keys: PostKeys): HostLimitReason | null {
    const { maxConcurrent, perWallet, maxConcurrentPerWallet } = this.#options;
    const { host, wallet, share } = keys;
    // A wallet at its own limit takes no place in the queue of the host.
    const isFull = this.#getCount(share) >= perWallet.maxConcurrent || this.#getCount(wallet) >= maxConcurrentPerWallet;
    if (!isFull && this.#getCount(host) + this.#countAhead(keys) >= maxConcurrent) {
      this.#waiting.set(share, { host, lastTriedMs: this.#options.now().getTime() });
      return 'busy';
    }
    this.#waiting.delete(share);
    if (isFull) return 'busy';
    // The share first: its rejection takes no token of the host.
    return takePost(this.#shares, share) && takePost(this.#hosts, host) ? null : 'spent';
  }

  #countAhead({ host, share }: PostKeys): number {
    const since = this.#options.now().getTime() - PLACE_RETENTION_MS;
    let ahead = 0;
    for (const [other, place] of this.#waiting) {
      if (other === share) break;
      if (place.lastTriedMs < since) this.#waiting.delete(other);
      else if (place.host === host) ahead += 1;
    }
    return ahead;
  }

  #getCount(key: string): number {
    return this.#inFlight.get(key) ?? 0;
  }

  #changeCount({ host, wallet, share }: PostKeys, by: 1 | -1): void {
    for (const key of [host, wallet, share]) {
      const count = this.#getCount(key) + by;
      if (count === 0) this.#inFlight.delete(key);
      else this.#inFlight.set(key, count);
    }
  }
}

const takePost = (limit: HostRateLimit | null, key: string) => limit === null || limit.take(key) === 'post';

/** Default burst and rate per host, over all who registered it. */
export const POSTS_PER_MINUTE = 60;

/** The least recently used host is evicted; after a minute without posts its bucket would be full anyway. */
const MAX_HOSTS = 10_000;

/** A token bucket per host: callbacks must not be usable to flood a third party. */
export class HostRateLimit {
  readonly #hosts = new LRUCache<string, { left: number; at: number; loggedAt: number | null }>({
    maxSize: MAX_HOSTS,
    sizeCalculation: () => 1,
  });
  readonly #now: () => Date;
  readonly #perMinute: number;

  constructor(now: () => Date, perMinute = POSTS_PER_MINUTE) {
    this.#now = now;
    this.#perMinute = perMinute;
  }

  /** Takes a token if there is one. `dropped` is to be logged; `dropped silently` follows within a minute of it. @param host without port */
  take(host: string): 'post' | 'dropped' | 'dropped silently' {
    const at = this.#now().getTime();
    const before = this.#hosts.get(host) ?? { left: this.#perMinute, at, loggedAt: null };
    const left = Math.min(this.#perMinute, before.left + (Math.max(0, at - before.at) * this.#perMinute) / MINUTE_MS);
    if (left >= 1) {
      this.#hosts.set(host, { ...before, left: left - 1, at });
      return 'post';
    }
    const wasLogged = before.loggedAt !== null && at - before.loggedAt < MINUTE_MS;
    this.#hosts.set(host, { left, at, loggedAt: wasLogged ? before.loggedAt : at });
    return wasLogged ? 'dropped silently' : 'dropped';
  }
}
