import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import PQueue from 'p-queue';
import { OracleError } from '../errors.ts';
import { addressRanges } from '../platform/budgets.ts';
import type { Log } from '../platform/log.ts';
import { type CollectionIndexes, ignoreDuplicate } from '../platform/mongo.ts';
import { withTimeout } from '../platform/time.ts';
import type { Caller } from './caller.ts';
import { isTierAtLeast } from './tiers.ts';

/** Default window of a policy. */
export const WINDOW_SECONDS = 60;
/** Window of the policy `tasks`. Anonymous tasks are stored for this time, so that the limit bounds the storage. */
export const TASK_WINDOW_SECONDS = 3_600;

export interface RateLimits {
  /** By client address: requests without a valid token. */
  public: RateLimiter;
  /** By wallet: authenticated requests. */
  wallet: RateLimiter;
  /** By client address: requests that read the chain, authenticated or not. */
  rpc: RateLimiter;
  /** By client address: rejected operator passwords; beyond the limit passwords are not compared. */
  failures: RateLimiter;
  /** By client address, and over all anonymous callers: stored A2A messages. */
  tasks: RateLimiter;
  /** By payer: payments rejected after a chain read. */
  payer: RateLimiter;
  /** By client address: the same for all payers. */
  payments: RateLimiter;
}

/** Subject of a limit: the client itself (wallet, IPv4 address or /64), a range around it, or all clients. */
type RateLimitScope = 'client' | '/56' | '/48' | 'all';

export interface RateLimitDecision {
  policy: keyof RateLimits;
  allowed: boolean;
  scope: RateLimitScope;
  /** Whole units, as `remaining`. */
  limit: number;
  windowSeconds: number;
  remaining: number;
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number;
}

export interface RateLimiter {
  /**
   * Takes all units or none, also of the IPv6 ranges around the client.
   * @param client a wallet, or an address key with or without a prefix such as `paying:`
   * @param units 1 by default; rounded up to tenths
   */
  take(client: string, units?: number): Promise<RateLimitDecision>;
  /** As `take`, without a wait; null, with nothing taken, where that would ask the database. */
  takeLeased(client: string, units?: number): RateLimitDecision | null;
  /** The rejection of a client that, as this process knows, has less than a unit left, otherwise null. Does not count. */
  getRejection(client: string): RateLimitDecision | null;
}

interface RateLimitOptions {
  counts: RequestCountStore;
  limits: { public: number; wallet: number; rpc: number; tasks: number };
  now(): Date;
  log: Log;
}

export function createRateLimits({ counts, limits, now, log }: RateLimitOptions): RateLimits {
  const common = { windowSeconds: WINDOW_SECONDS, multiples: REQUEST_SCOPE_MULTIPLES, counts: withLocalFallback(counts, now, log), now };
  const limiter = (policy: keyof RateLimits, limit: number, more: Partial<RateLimiterOptions> = {}) =>
    createRateLimiter({ ...common, policy, limit, ...more });
  return {
    public: limiter('public', limits.public),
    wallet: limiter('wallet', limits.wallet),
    rpc: limiter('rpc', limits.rpc),
    failures: limiter('failures', limits.public),
    tasks: limiter('tasks', limits.tasks, { windowSeconds: TASK_WINDOW_SECONDS, multiples: TASK_SCOPE_MULTIPLES }),
    payer: limiter('payer', limits.rpc),
    payments: limiter('payments', limits.public),
  };
}

/** Limits of wider scopes, as multiples of a client's limit. A /48 may be an office, or all customers of a hosting provider. */
interface ScopeMultiples {
  '/56': number;
  '/48': number;
  /** Unset: unlimited. */
  all?: number;
  /** Beside `all`, for clients with at most a tenth of their limit: a few that use up `all` leave room for others. */
  reserve?: number;
}

export const REQUEST_SCOPE_MULTIPLES: ScopeMultiples = { '/56': 4, '/48': 16 };
export const TASK_SCOPE_MULTIPLES = { '/56': 2, '/48': 4, all: 20, reserve: 20 } as const satisfies ScopeMultiples;

/** Bounds memory. The database still has the counts of an evicted client. */
const MAX_CLIENTS = 50_000;

/** Counts are integers of this part of a unit, in memory and in the database. */
const TENTHS = 10;

interface BudgetLease {
  /** In tenths, as all counts below. */
  left: number;
  /** Of the scope in this window at the last write, with unused leases of all processes. */
  taken: number;
  renewing?: Promise<void>;
}

/** Returns the count after the increment, or null when the database does not answer. */
type CountRequests = (id: string, tenths: number, expiresAt: Date) => Promise<number | null>;

interface RateLimiterOptions {
  policy: keyof RateLimits;
  /** In units. */
  limit: number;
  windowSeconds: number;
  multiples: ScopeMultiples;
  counts: CountRequests;
  now(): Date;
}

interface Bucket {
  id: string;
  scope: RateLimitScope;
  limit: number;
}

const NO_LEASE: Readonly<BudgetLease> = { left: 0, taken: 0 };

const ADDRESS_SCOPES = ['client', '/56', '/48'] as const;
/** Longer than a group of an IPv6 address, so that no address matches. */
const KEY_PREFIX = /^[a-z]{5,}:/;

/**
 * Fixed windows aligned to the minute. Reserves a tenth of the limit per write, or what one request costs beyond it: with n processes a
 * client gets at most the limit, and at least the limit less (n - 1) such reservations. Without the database each process counts for itself.
 */
function createRateLimiter({ policy, limit: units, windowSeconds, multiples, counts, now }: RateLimiterOptions): RateLimiter {
  const limit = units * TENTHS;
  let window = Number.NaN;
  // LRU, so that the clients of a range cannot evict the range's own lease. `max` would allocate room for all of them at once.
  const leases = new LRUCache<string, BudgetLease>({ maxSize: MAX_CLIENTS, sizeCalculation: () => 1 });
  const all: Bucket | null = multiples.all === undefined ? null : { id: 'all', scope: 'all', limit: limit * multiples.all };
  const reserve: Bucket = { id: 'reserve', scope: 'all', limit: limit * (multiples.reserve ?? 0) };

  /** Narrowest first: a rejected client does not count against its ranges. */
  function getBuckets(client: string): Bucket[] {
    const prefix = KEY_PREFIX.exec(client)?.[0] ?? '';
    const ranges = addressRanges(client.slice(prefix.length)).map((range, index): Bucket => {
      const scope = ADDRESS_SCOPES[index] as (typeof ADDRESS_SCOPES)[number];
      return { id: prefix + range, scope, limit: scope === 'client' ? limit : limit * multiples[scope] };
    });
    return all === null ? ranges : [...ranges, pickOverall(ranges[0]!, all)];
  }

  /** `all` while it lasts, then the reserve for a client in its first lease. */
  function pickOverall(own: Bucket, overall: Bucket): Bucket {
    const [lease, ofAll] = [getLease(own), getLease(overall)];
    const isNew = lease === undefined || lease.taken <= Math.ceil(limit / TENTHS / TENTHS) * TENTHS;
    const isSpent = ofAll !== undefined && countRemaining(ofAll, overall) < TENTHS;
    return isNew && reserve.limit > 0 && isSpent ? reserve : overall;
  }

  function getLease({ id }: Bucket): BudgetLease | undefined {
    const current = Math.floor(now().getTime() / 1_000 / windowSeconds);
    if (current !== window) {
      window = current;
      leases.clear();
    }
    return leases.get(id);
  }

  async function renew(lease: BudgetLease, { id, limit }: Bucket, price: number): Promise<void> {
    // Whole units, so that a client that sends one request a write does not write for each.
    const share = Math.max(Math.ceil(limit / TENTHS / TENTHS) * TENTHS, price - lease.left);
    // Counters outlive their window for processes whose clocks are behind.
    const expiresAt = new Date((window + 2) * windowSeconds * 1_000);
    const taken = (await counts(`${policy}:${id}:${window}`, share, expiresAt)) ?? lease.taken + share;
    lease.left += Math.min(share, Math.max(0, limit - (taken - share)));
    lease.taken = Math.min(taken, limit);
  }

  /** Of the bucket, without the leases of other processes. */
  const countRemaining = ({ left, taken }: Readonly<BudgetLease>, { limit }: Bucket) => limit - taken + left;

  function decide(lease: Readonly<BudgetLease>, bucket: Bucket, allowed: boolean): RateLimitDecision {
    const { scope, limit } = bucket;
    const resetSeconds = Math.max(1, Math.ceil((window + 1) * windowSeconds - now().getTime() / 1_000));
    const remaining = Math.floor(countRemaining(lease, bucket) / TENTHS);
    return { policy, allowed, scope, limit: limit / TENTHS, windowSeconds, remaining, resetSeconds };
  }

  function findRejection(buckets: readonly Bucket[], price: number): RateLimitDecision | null {
    for (const bucket of buckets) {
      const lease = getLease(bucket) ?? NO_LEASE;
      if (countRemaining(lease, bucket) < price) return decide(lease, bucket, false);
    }
    return null;
  }

  /** Takes the price of every bucket, or of none; null where the lease of a bucket is too small and may be renewed. */
  function takeLeased(buckets: readonly Bucket[], price: number): RateLimitDecision | null {
    const rejection = findRejection(buckets, price);
    if (rejection !== null) return rejection;
    const held = buckets.map(getLease);
    if (!held.every((lease) => lease !== undefined && lease.left >= price)) return null;
    let tightest: RateLimitDecision | undefined;
    for (const [index, lease] of (held as BudgetLease[]).entries()) {
      lease.left -= price;
      const taken = decide(lease, buckets[index]!, true);
      if (tightest === undefined || taken.remaining < tightest.remaining) tightest = taken;
    }
    return tightest as RateLimitDecision;
  }

  /** Renews the first lease that is too small only: a client of a range that turns out to be spent counts in no wider one. */
  async function renewFirst(buckets: readonly Bucket[], price: number): Promise<void> {
    const bucket = buckets.find((candidate) => (getLease(candidate)?.left ?? 0) < price);
    if (bucket === undefined) return;
    const lease = getLease(bucket) ?? { ...NO_LEASE };
    leases.set(bucket.id, lease);
    lease.renewing ??= renew(lease, bucket, price).finally(() => {
      lease.renewing = undefined;
    });
    await lease.renewing;
  }

  return {
    async take(client, units) {
      const price = toTenths(units);
      for (;;) {
        // Each time, since a renewal may show that `all` is spent.
        const buckets = getBuckets(client);
        const taken = takeLeased(buckets, price);
        if (taken !== null) return taken;
        await renewFirst(buckets, price);
      }
    },
    takeLeased: (client, units) => takeLeased(getBuckets(client), toTenths(units)),
    getRejection: (client) => findRejection(getBuckets(client), TENTHS),
  };
}

/** Sums of prices are inexact in binary: less than a millionth of a tenth is no part of the price. */
function toTenths(units = 1): number {
  return Math.max(1, Math.ceil(units * TENTHS - 1e-6));
}

const STORE_PAUSE_MS = 5_000;
const MAX_WRITES = 8;

/** Pauses writes to an unreachable database, so that requests do not wait for it; limits then hold per process. */
function withLocalFallback(counts: RequestCountStore, now: () => Date, log: Log): CountRequests {
  let pausedAtMs = Number.NEGATIVE_INFINITY;
  let failing = false;
  // Hundreds of new clients at once must not keep the database from the requests of others.
  const writes = new PQueue({ concurrency: MAX_WRITES });
  return async (id, tenths, expiresAt) => {
    if (Math.abs(now().getTime() - pausedAtMs) < STORE_PAUSE_MS) return null;
    try {
      const taken = await writes.add(() => counts.add(id, tenths, expiresAt));
      if (failing) log.info('rate limits are shared between processes again');
      failing = false;
      return taken;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'the database does not count requests: each process limits for itself');
      failing = true;
      pausedAtMs = now().getTime();
      return null;
    }
  };
}

const COLLECTION = 'request_counts';

export const REQUEST_COUNT_INDEXES: CollectionIndexes[] = [
  { collection: COLLECTION, indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }] },
];

interface RequestCountStore {
  /** Increments a counter and returns its value. Rejects when the database does not answer within a second. */
  add(id: string, count: number, expiresAt: Date): Promise<number>;
}

const TIMEOUT_MS = 1_000;

/** Counters in the database. */
export function createRequestCountStore(db: Db): RequestCountStore {
  // A crash may lose a count, so writes do not wait for the journal.
  const writeConcern = { w: 1, journal: false };
  const counts = db.collection<{ _id: string; taken: number; expiresAt: Date }>(COLLECTION, { writeConcern });

  async function add(id: string, count: number, expiresAt: Date): Promise<number> {
    const update = { $inc: { taken: count }, $setOnInsert: { expiresAt } };
    const doc = await counts.findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' });
    return doc?.taken ?? count;
  }

  return {
    async add(id, count, expiresAt) {
      // Again after a lost race of two upserts: the counter exists then.
      const added = add(id, count, expiresAt).catch((error) => ignoreDuplicate(error) ?? add(id, count, expiresAt));
      // The driver's `timeoutMS` does not abort an operation of a server that is connected but silent.
      return withTimeout(TIMEOUT_MS, added, () => new Error(`no answer in ${TIMEOUT_MS} ms`));
    },
  };
}

interface CapacityClient {
  key: string;
  /** Client address as the rate limits key it. */
  address: string;
  /** Priority: a payer has sent a payment, a holder currently has at least the Basic tier. */
  class: 'anonymous' | 'payer' | 'holder';
}

export interface CapacityLimits {
  perClient: number;
  per56: number;
  per48: number;
  anonymous: number;
  /** Of anonymous callers and payers together; the rest up to `overall` is reserved for holders. */
  anonymousAndPayers: number;
  overall: number;
}

interface SharedCapacityOptions {
  /** Plural name of the units, e.g. `streams`. */
  units: string;
  limits: Readonly<CapacityLimits>;
  suggestedAction: string;
  retryAfterSeconds: number;
}

/** @param isPaying whether the request carries a payment */
export function toCapacityClient({ caller, address }: { caller: Caller; address: string }, isPaying = false): CapacityClient {
  const { wallet, tier } = caller;
  const key = wallet === undefined ? address : wallet.toLowerCase();
  if (wallet !== undefined && isTierAtLeast(tier, 'basic')) return { key, address, class: 'holder' };
  return { key, address, class: isPaying ? 'payer' : 'anonymous' };
}

/** A bounded resource of one process that no few clients, address range or class of clients can exhaust. */
export class SharedCapacity {
  readonly #options: SharedCapacityOptions;
  readonly #inUse = new Map<string, number>();

  constructor(options: SharedCapacityOptions) {
    this.#options = options;
  }

  /** Acquires one unit; the returned function releases it. @throws OracleError RATE_LIMITED with the exhausted limit in `details.scope` */
  acquire(client: CapacityClient): () => void {
    const bounds = this.#getBounds(client);
    const full = bounds.find(({ scope, limit }) => this.#getCount(scope) >= limit);
    if (full !== undefined) {
      const { units, suggestedAction, retryAfterSeconds } = this.#options;
      const { name, limit } = full;
      const message = name === 'client' ? `${limit} ${units} of this caller are open` : `All ${limit} ${units} of ${name} are in use`;
      throw new OracleError('RATE_LIMITED', message, { suggestedAction, retryAfterSeconds, details: { scope: name, limit } });
    }
    for (const { scope } of bounds) addToCount(this.#inUse, scope, 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      for (const { scope } of bounds) addToCount(this.#inUse, scope, -1);
    };
  }

  #getBounds(client: CapacityClient): { scope: string; name: string; limit: number }[] {
    const { perClient, per56, per48, anonymous, anonymousAndPayers, overall } = this.#options.limits;
    const own = { scope: `client ${client.key}`, name: 'client', limit: perClient };
    const all = { scope: 'all', name: 'all callers', limit: overall };
    if (client.class === 'holder') return [own, all];
    const [, range56, range48] = addressRanges(client.address);
    // A quarter of the anonymous share is for clients without a unit, so that a few addresses cannot use it up.
    const share = this.#getCount(own.scope) === 0 ? anonymous : Math.ceil(anonymous * 0.75);
    return [
      own,
      ...(range56 === undefined ? [] : [{ scope: range56, name: '/56', limit: per56 }]),
      ...(range48 === undefined ? [] : [{ scope: range48, name: '/48', limit: per48 }]),
      ...(client.class === 'anonymous' ? [{ scope: 'anonymous', name: 'anonymous callers', limit: share }] : []),
      { scope: 'unreserved', name: 'callers without a token', limit: anonymousAndPayers },
      all,
    ];
  }

  #getCount(scope: string): number {
    return this.#inUse.get(scope) ?? 0;
  }
}

/** Without an entry for zero. */
export function addToCount(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
