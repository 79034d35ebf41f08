import type { Log } from '../log.ts';
import type { CountStore } from './request-counts.ts';

/** All limits are so many requests a minute. */
export const WINDOW_SECONDS = 60;

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
}

/** What became of one request. */
export interface Verdict {
  policy: keyof RateLimits;
  allowed: boolean;
  /** Requests a window. */
  limit: number;
  /** Requests left in this window, this one deducted. */
  remaining: number;
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number;
}

export interface RateLimiter {
  /** Counts one request of a client. */
  take(client: string): Promise<Verdict>;
  /** The verdict on a client who is known here to have nothing left; null for any other. Counts nothing. */
  refusal(client: string): Verdict | null;
}

export interface RateLimitOptions {
  counts: CountStore;
  /** Requests a minute. */
  limits: { public: number; wallet: number; rpc: number };
  now(): Date;
  log: Log;
}

/** The limits of DESIGN, "Access and money", shared by all processes on one database. */
export function createRateLimits({ counts, limits, now, log }: RateLimitOptions): RateLimits {
  const insured = withInsurance({ counts, now, log });
  const limiter = (policy: keyof RateLimits, limit: number) => createLimiter({ policy, limit, counts: insured, now });
  return {
    public: limiter('public', limits.public),
    wallet: limiter('wallet', limits.wallet),
    rpc: limiter('rpc', limits.rpc),
    failures: limiter('failures', limits.public),
  };
}

/** Bounds the memory that many addresses take. What is forgotten stays counted in the store. */
const MAX_CLIENTS = 50_000;

/** Requests that this process took from a client's budget in one write, and has not handed out yet. */
interface Lease {
  left: number;
  /** The client's requests in this window by the last answer of the store, all processes and unused leases included. */
  taken: number;
  renewing?: Promise<void>;
}

/** Requests taken after these, or null when the store does not answer. */
type Count = (id: string, requests: number, expiresAt: Date) => Promise<number | null>;

interface LimiterOptions {
  policy: keyof RateLimits;
  limit: number;
  counts: Count;
  now(): Date;
}

/**
 * Fixed windows that begin with each minute. A tenth of the limit is taken from the store at a time, so that most requests
 * write nothing and refused ones never do; what another process holds unused is missing here. A client therefore never gets
 * more than the limit, and with n processes at least the limit less (n - 1) times a tenth of it. Without the store each process
 * counts for itself.
 */
function createLimiter({ policy, limit, counts, now }: LimiterOptions): RateLimiter {
  const share = Math.ceil(limit / 10);
  let window = Number.NaN;
  let leases = new Map<string, Lease>();

  function leaseOf(client: string): Lease | undefined {
    const current = Math.floor(now().getTime() / 1_000 / WINDOW_SECONDS);
    if (current !== window) {
      window = current;
      leases = new Map();
    }
    return leases.get(client);
  }

  function newLease(client: string): Lease {
    const [oldest] = leases.size >= MAX_CLIENTS ? leases.keys() : [];
    if (oldest !== undefined) leases.delete(oldest);
    const lease: Lease = { left: 0, taken: 0 };
    leases.set(client, lease);
    return lease;
  }

  async function renew(lease: Lease, client: string): Promise<void> {
    // A count outlives its window for processes whose clocks are behind.
    const expiresAt = new Date((window + 2) * WINDOW_SECONDS * 1_000);
    const taken = (await counts(`${policy}:${client}:${window}`, share, expiresAt)) ?? lease.taken + share;
    lease.left = Math.min(share, Math.max(0, limit - (taken - share)));
    lease.taken = Math.min(taken, limit);
  }

  const isSpent = ({ left, taken }: Lease) => left === 0 && taken >= limit;

  function verdict(lease: Lease, allowed: boolean): Verdict {
    const resetSeconds = Math.max(1, Math.ceil((window + 1) * WINDOW_SECONDS - now().getTime() / 1_000));
    return { policy, allowed, limit, remaining: limit - lease.taken + lease.left, resetSeconds };
  }

  return {
    async take(client) {
      for (;;) {
        const lease = leaseOf(client) ?? newLease(client);
        if (isSpent(lease)) return verdict(lease, false);
        if (lease.left > 0) {
          lease.left -= 1;
          return verdict(lease, true);
        }
        lease.renewing ??= renew(lease, client).finally(() => {
          lease.renewing = undefined;
        });
        await lease.renewing;
      }
    },
    refusal(client) {
      const lease = leaseOf(client);
      return lease !== undefined && isSpent(lease) ? verdict(lease, false) : null;
    },
  };
}

const PAUSE_MS = 5_000;

/** A store that does not answer is left alone for a while: nobody waits for it, and the limits hold in each process. */
function withInsurance({ counts, now, log }: Pick<RateLimitOptions, 'counts' | 'now' | 'log'>): Count {
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
      pausedUntilMs = now().getTime() + PAUSE_MS;
      return null;
    }
  };
}
