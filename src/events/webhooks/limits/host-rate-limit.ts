import { LRUCache } from 'lru-cache';

/** Default burst and rate per host, over all who registered it. */
export const POSTS_PER_MINUTE = 60;

const MINUTE_MS = 60_000;
/** The least recently used host is evicted; after a minute without posts its bucket would be full anyway. */
const MAX_HOSTS = 10_000;

/** `dropped` is to be logged; `dropped silently` follows within a minute of it. */
type PostDecision = 'post' | 'dropped' | 'dropped silently';

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

  /** Takes a token if there is one. @param host without port */
  take(host: string): PostDecision {
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
