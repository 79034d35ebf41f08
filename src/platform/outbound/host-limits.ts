import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../../forecast/day.ts';
import { getHostname } from './guarded.ts';

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
export type HostLimit = 'busy' | 'spent';

/** A rejected post keeps its place in the queue for so long, more than a worker takes to retry. */
const PLACE_RETENTION_MS = 3_000;

/** No dead host and no wallet exhausts the share of others. A post rejected because its host was busy goes before later ones. */
export class HostLimiter {
  readonly #inFlight = new Map<string, number>();
  /** By share (wallet and host), in order of arrival. */
  readonly #waiting = new Map<string, { host: string; lastTriedMs: number }>();
  readonly #options: HostLimiterOptions;
  readonly #rates: HostRateLimit[];

  constructor(options: HostLimiterOptions) {
    const { perMinute, perWallet, now } = options;
    this.#options = options;
    // The share first: its rejection takes no token of the host.
    this.#rates = [perWallet.perMinute, perMinute].map((limit) => new HostRateLimit(now, limit ?? Number.MAX_SAFE_INTEGER));
  }

  async run<T>({ url, wallet }: { url: string; wallet: string }, work: () => Promise<T>): Promise<T | HostLimit> {
    const host = getHostname(url);
    const share = `${wallet} ${host}`;
    if (!this.#hasRoom(host, wallet, share)) return 'busy';
    if (![share, host].every((key, index) => this.#rates[index]!.take(key) === 'post')) return 'spent';
    const keys = [host, wallet, share];
    for (const key of keys) this.#inFlight.set(key, this.#count(key) + 1);
    try {
      return await work();
    } finally {
      for (const key of keys) {
        const left = this.#count(key) - 1;
        if (left === 0) this.#inFlight.delete(key);
        else this.#inFlight.set(key, left);
      }
    }
  }

  #hasRoom(host: string, wallet: string, share: string): boolean {
    const { maxConcurrent, perWallet, maxConcurrentPerWallet, now } = this.#options;
    const nowMs = now().getTime();
    for (const [key, { lastTriedMs }] of this.#waiting) if (lastTriedMs < nowMs - PLACE_RETENTION_MS) this.#waiting.delete(key);
    // A wallet at its own limit takes no place in the queue of the host.
    const isFull = this.#count(share) >= perWallet.maxConcurrent || this.#count(wallet) >= maxConcurrentPerWallet;
    const shares = [...this.#waiting.keys()];
    const ahead = this.#waiting.has(share) ? shares.slice(0, shares.indexOf(share)) : shares;
    const isHostBusy = this.#count(host) + ahead.filter((key) => this.#waiting.get(key)!.host === host).length >= maxConcurrent;
    if (!isFull && isHostBusy) this.#waiting.set(share, { host, lastTriedMs: nowMs });
    else this.#waiting.delete(share);
    return !isFull && !isHostBusy;
  }

  #count(key: string): number {
    return this.#inFlight.get(key) ?? 0;
  }
}

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
