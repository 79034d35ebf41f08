import type { Log } from '../../platform/log.ts';
import { addressRanges } from './address-ranges.ts';
import type { RequestCountStore } from './request-count-store.ts';

/** Limits are so many requests a minute, unless their policy has a window of its own. */
export const WINDOW_SECONDS = 60;

/** Window of the policy `tasks`: anonymous tasks are kept for this time, so that the limit bounds what is stored. */
export const TASK_WINDOW_SECONDS = 3_600;

/** Who may ask how often. */
export interface RateLimits {
  /** By client address: whoever has no valid token. */
  public: RateLimiter;
  /** By wallet: whoever is logged in. */
  wallet: RateLimiter;
  /** By client address, whoever asks: requests that make us call the chain. */
  rpc: RateLimiter;
  /** By client address: passwords of the operator that were refused; beyond it they are not even looked at. */
  failures: RateLimiter;
  /** By client address, and for all anonymous callers together: A2A messages that are kept for callers without a token. */
  tasks: RateLimiter;
  /** By payer: payments that were rejected after the chain was asked about them. */
  payer: RateLimiter;
  /** By client address: the same, whoever their payers. */
  payments: RateLimiter;
}

/** What a limit was counted for: the client itself (a wallet, an IPv4 address, a /64), a range around it, or all clients. */
export type RateLimitScope = 'client' | '/56' | '/48' | 'all';

/** What became of one request. */
export interface RateLimitDecision {
  policy: keyof RateLimits;
  allowed: boolean;
  /** Of the scope that refused, or that has the least left. */
  scope: RateLimitScope;
  /** Requests a window. */
  limit: number;
  windowSeconds: number;
  /** Requests left in this window, this one deducted. */
  remaining: number;
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number;
}

export interface RateLimiter {
  /**
   * Counts a request of a client, and of the IPv6 ranges around it.
   * @param client a wallet, or an address key with or without a prefix such as `paying:`
   * @param units what it counts for, 1 unless given
   */
  take(client: string, units?: number): Promise<RateLimitDecision>;
  /** The verdict on a client who is known here to have nothing left; null for any other. Counts nothing. */
  getRejection(client: string): RateLimitDecision | null;
}

export interface RateLimitOptions {
  counts: RequestCountStore;
  /** Requests a minute; `tasks` an hour. */
  limits: { public: number; wallet: number; rpc: number; tasks: number };
  now(): Date;
  log: Log;
}

/** The limits of DESIGN, "Access and money", shared by all processes on one database. */
export function createRateLimits({ counts, limits, now, log }: RateLimitOptions): RateLimits {
  const countRequests = withLocalFallback({ counts, now, log });
  const limiter = (policy: keyof RateLimits, limit: number, more: Partial<RateLimiterOptions> = {}) =>
    createRateLimiter({
      policy,
      limit,
      windowSeconds: WINDOW_SECONDS,
      multiples: REQUEST_SCOPE_MULTIPLES,
      ...more,
      counts: countRequests,
      now,
    });
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

/** Limits of wider scopes, in limits of one client. A /48 may be an office, or all customers of a hoster. */
interface ScopeMultiples {
  '/56': number;
  '/48': number;
  /** Unset: all clients together are not limited. */
  all?: number;
}

export const REQUEST_SCOPE_MULTIPLES: ScopeMultiples = { '/56': 4, '/48': 16 };
export const TASK_SCOPE_MULTIPLES = { '/56': 2, '/48': 4, all: 20 } as const satisfies ScopeMultiples;

/** Bounds the memory that many addresses take. What is forgotten stays counted in the store. */
const MAX_CLIENTS = 50_000;

/** Requests that this process took from a scope's budget in one write, and has not handed out yet. */
interface BudgetLease {
  left: number;
  /** The scope's requests in this window by the last answer of the store, all processes and unused leases included. */
  taken: number;
  renewing?: Promise<void>;
}

/** Requests taken after these, or null when the store does not answer. */
type CountRequests = (id: string, requests: number, expiresAt: Date) => Promise<number | null>;

interface RateLimiterOptions {
  policy: keyof RateLimits;
  limit: number;
  windowSeconds: number;
  multiples: ScopeMultiples;
  counts: CountRequests;
  now(): Date;
}

/** What a request is counted in. */
interface Bucket {
  id: string;
  scope: RateLimitScope;
  limit: number;
}

const ADDRESS_SCOPES = ['client', '/56', '/48'] as const;
/** Longer than a group of an IPv6 address, so that no address is taken for one. */
const KEY_PREFIX = /^[a-z]{5,}:/;

/**
 * Fixed windows that begin with each minute. A tenth of the limit is taken from the store at a time, so that most requests
 * write nothing and refused ones never do; what another process holds unused is missing here. A client therefore never gets
 * more than the limit, and with n processes at least the limit less (n - 1) times a tenth of it. Without the store each process
 * counts for itself.
 */
function createRateLimiter({ policy, limit, windowSeconds, multiples, counts, now }: RateLimiterOptions): RateLimiter {
  let window = Number.NaN;
  let leases = new Map<string, BudgetLease>();
  const all: Bucket[] = multiples.all === undefined ? [] : [{ id: 'all', scope: 'all', limit: limit * multiples.all }];

  /** Narrowest first: what one client has spent does not count for its ranges. */
  function getBuckets(client: string): Bucket[] {
    const prefix = KEY_PREFIX.exec(client)?.[0] ?? '';
    const ranges = addressRanges(client.slice(prefix.length)).map((range, index): Bucket => {
      const scope = ADDRESS_SCOPES[index] as (typeof ADDRESS_SCOPES)[number];
      return { id: prefix + range, scope, limit: scope === 'client' ? limit : limit * multiples[scope] };
    });
    return all.length === 0 ? ranges : [...ranges, ...all];
  }

  function getLease({ id, scope }: Bucket): BudgetLease | undefined {
    const current = Math.floor(now().getTime() / 1_000 / windowSeconds);
    if (current !== window) {
      window = current;
      leases = new Map();
    }
    const lease = leases.get(id);
    // The clients of a range could push its lease out of memory, and with it what is left of it.
    if (lease !== undefined && scope !== 'client') {
      leases.delete(id);
      leases.set(id, lease);
    }
    return lease;
  }

  function createLease({ id }: Bucket): BudgetLease {
    const [oldest] = leases.size >= MAX_CLIENTS ? leases.keys() : [];
    if (oldest !== undefined) leases.delete(oldest);
    const lease: BudgetLease = { left: 0, taken: 0 };
    leases.set(id, lease);
    return lease;
  }

  async function renew(lease: BudgetLease, { id, limit }: Bucket): Promise<void> {
    const share = Math.ceil(limit / 10);
    // A count outlives its window for processes whose clocks are behind.
    const expiresAt = new Date((window + 2) * windowSeconds * 1_000);
    const taken = (await counts(`${policy}:${id}:${window}`, share, expiresAt)) ?? lease.taken + share;
    lease.left = Math.min(share, Math.max(0, limit - (taken - share)));
    lease.taken = Math.min(taken, limit);
  }

  const isSpent = ({ left, taken }: BudgetLease, { limit }: Bucket) => left === 0 && taken >= limit;

  function decide(lease: BudgetLease, { scope, limit }: Bucket, allowed: boolean): RateLimitDecision {
    const resetSeconds = Math.max(1, Math.ceil((window + 1) * windowSeconds - now().getTime() / 1_000));
    return { policy, allowed, scope, limit, windowSeconds, remaining: limit - lease.taken + lease.left, resetSeconds };
  }

  async function takeFrom(bucket: Bucket): Promise<RateLimitDecision> {
    for (;;) {
      const lease = getLease(bucket) ?? createLease(bucket);
      if (isSpent(lease, bucket)) return decide(lease, bucket, false);
      if (lease.left > 0) {
        lease.left -= 1;
        return decide(lease, bucket, true);
      }
      lease.renewing ??= renew(lease, bucket).finally(() => {
        lease.renewing = undefined;
      });
      await lease.renewing;
    }
  }

  function findSpent(buckets: readonly Bucket[]): RateLimitDecision | null {
    for (const bucket of buckets) {
      const lease = getLease(bucket);
      if (lease !== undefined && isSpent(lease, bucket)) return decide(lease, bucket, false);
    }
    return null;
  }

  async function takeFromAll(buckets: readonly Bucket[]): Promise<RateLimitDecision> {
    // A client of a spent range leaves no trace, neither here nor in the store.
    const spent = buckets.length === 1 ? null : findSpent(buckets);
    if (spent !== null) return spent;
    let tightest: RateLimitDecision | undefined;
    for (const bucket of buckets) {
      const taken = await takeFrom(bucket);
      if (!taken.allowed) return taken;
      if (tightest === undefined || taken.remaining < tightest.remaining) tightest = taken;
    }
    return tightest as RateLimitDecision;
  }

  return {
    async take(client, units = 1) {
      const buckets = getBuckets(client);
      let taken = await takeFromAll(buckets);
      for (let unit = 1; unit < units && taken.allowed; unit++) taken = await takeFromAll(buckets);
      return taken;
    },
    getRejection: (client) => findSpent(getBuckets(client)),
  };
}

const STORE_PAUSE_MS = 5_000;

/** A store that does not answer is left alone for a while: nobody waits for it, and the limits hold in each process. */
function withLocalFallback({ counts, now, log }: Pick<RateLimitOptions, 'counts' | 'now' | 'log'>): CountRequests {
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let failing = false;
  return async (id, requests, expiresAt) => {
    if (now().getTime() < pausedUntilMs) return null;
    try {
      const taken = await counts.add(id, requests, expiresAt);
      if (failing) log.info('rate limits are shared between processes again');
      failing = false;
      return taken;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'the database does not count requests: each process limits for itself');
      failing = true;
      pausedUntilMs = now().getTime() + STORE_PAUSE_MS;
      return null;
    }
  };
}
