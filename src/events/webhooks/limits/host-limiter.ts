import { getHostname } from '../../../platform/outbound/target.ts';
import { HostRateLimit } from './host-rate-limit.ts';

interface PostShare {
  /** Posts under way. */
  atOnce: number;
  /** Posts a minute; null: any number. */
  aMinute: number | null;
}

/** What one host gets of the posts of a process. */
export interface HostLimiterOptions extends PostShare {
  /** What one wallet has of that. */
  ofWallet: PostShare;
  /** Posts under way of one wallet, whatever their hosts. */
  walletAtOnce: number;
  now(): Date;
}

/** Where a post leads, and whose it is. */
export interface HostPost {
  url: string;
  wallet: string;
}

/** Why there is none now: `busy` passes with the posts under way, `spent` with the minute. */
export type HostLimitReason = 'busy' | 'spent';

/** Who was refused keeps his place for so long, if he does not come back: longer than a worker takes to. */
const PLACE_RETENTION_MS = 3_000;

interface QueuePlace {
  host: string;
  askedAtMs: number;
}

/** Who asks, and under which names he is counted. */
interface PostKeys {
  host: string;
  wallet: string;
  /** A wallet at a host. */
  share: string;
}

/**
 * Bounds what a host gets, whoever registered it and how often: one that is dead takes no more turns than its share. Beneath it bounds
 * what a wallet gets, of a host and altogether: nobody's receivers can use up those of others. Whoever was refused since a host was
 * busy is let in before those who come later.
 */
export class HostLimiter {
  readonly #inFlight = new Map<string, number>();
  /** By wallet and host, in the order in which they came. */
  readonly #waiting = new Map<string, QueuePlace>();
  readonly #options: HostLimiterOptions;
  readonly #hosts: HostRateLimit | null;
  readonly #shares: HostRateLimit | null;

  constructor(options: HostLimiterOptions) {
    const { aMinute, ofWallet, now } = options;
    this.#options = options;
    this.#hosts = aMinute === null ? null : new HostRateLimit(now, aMinute);
    this.#shares = ofWallet.aMinute === null ? null : new HostRateLimit(now, ofWallet.aMinute);
  }

  /** Does the work, unless its host or its wallet has no turn left: then tells why. */
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
    const { atOnce, ofWallet, walletAtOnce } = this.#options;
    const { host, wallet, share } = keys;
    // Who has what is his keeps nobody else out.
    const isFull = this.#getCount(share) >= ofWallet.atOnce || this.#getCount(wallet) >= walletAtOnce;
    if (!isFull && this.#getCount(host) + this.#countAhead(keys) >= atOnce) {
      this.#waiting.set(share, { host, askedAtMs: this.#options.now().getTime() });
      return 'busy';
    }
    this.#waiting.delete(share);
    if (isFull) return 'busy';
    // The share first: what it refuses costs the host nothing.
    return takePost(this.#shares, share) && takePost(this.#hosts, host) ? null : 'spent';
  }

  /** How many are in the line for its host before an asker. */
  #countAhead({ host, share }: PostKeys): number {
    const since = this.#options.now().getTime() - PLACE_RETENTION_MS;
    let before = 0;
    for (const [other, place] of this.#waiting) {
      if (other === share) break;
      if (place.askedAtMs < since) this.#waiting.delete(other);
      else if (place.host === host) before += 1;
    }
    return before;
  }

  #getCount(name: string): number {
    return this.#inFlight.get(name) ?? 0;
  }

  #changeCount({ host, wallet, share }: PostKeys, by: 1 | -1): void {
    for (const name of [host, wallet, share]) {
      const count = this.#getCount(name) + by;
      if (count === 0) this.#inFlight.delete(name);
      else this.#inFlight.set(name, count);
    }
  }
}

const takePost = (budget: HostRateLimit | null, name: string) => budget === null || budget.take(name) === 'post';
