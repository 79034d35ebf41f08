import { getHostname } from '../../../platform/outbound/target.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import { HostRateLimit } from './host-rate-limit.ts';

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

export type HostPost = Pick<WebhookDoc, 'url' | 'wallet'>;

/** `busy` ends with the posts in flight, `spent` with the minute. */
export type HostLimitReason = 'busy' | 'spent';

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

  async run<T>({ url, wallet }: HostPost, work: () => Promise<T>): Promise<T | HostLimitReason> {
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
