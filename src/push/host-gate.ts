import { hostNameOf } from '../platform/outbound/target.ts';
import { HostBudget } from './host-budget.ts';

interface Share {
  /** Posts under way. */
  atOnce: number;
  /** Posts a minute; null: any number. */
  aMinute: number | null;
}

/** What one host gets of the posts of a process. */
export interface HostGateOptions extends Share {
  /** What one wallet has of that. */
  ofWallet: Share;
  /** Posts under way of one wallet, whatever their hosts. */
  walletAtOnce: number;
  now(): Date;
}

/** Where a post leads, and whose it is. */
export interface Post {
  url: string;
  wallet: string;
}

/** Why there is none now: `busy` passes with the posts under way, `spent` with the minute. */
export type Refusal = 'busy' | 'spent';

/** Who was refused keeps his place for so long, if he does not come back: longer than a worker takes to. */
const PLACE_KEPT_MS = 3_000;

interface Place {
  host: string;
  askedAtMs: number;
}

/** Who asks, and under which names he is counted. */
interface Asker {
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
export class HostGate {
  readonly #underWay = new Map<string, number>();
  /** By wallet and host, in the order in which they came. */
  readonly #line = new Map<string, Place>();
  readonly #options: HostGateOptions;
  readonly #hosts: HostBudget | null;
  readonly #shares: HostBudget | null;

  constructor(options: HostGateOptions) {
    const { aMinute, ofWallet, now } = options;
    this.#options = options;
    this.#hosts = aMinute === null ? null : new HostBudget(now, aMinute);
    this.#shares = ofWallet.aMinute === null ? null : new HostBudget(now, ofWallet.aMinute);
  }

  /** Does the work, unless its host or its wallet has no turn left: then tells why. */
  async run<T>({ url, wallet }: Post, work: () => Promise<T>): Promise<T | Refusal> {
    const host = hostNameOf(url);
    const asker = { host, wallet, share: `${wallet} ${host}` };
    const refusal = this.#refusal(asker);
    if (refusal !== null) return refusal;
    this.#count(asker, 1);
    try {
      return await work();
    } finally {
      this.#count(asker, -1);
    }
  }

  #refusal(asker: Asker): Refusal | null {
    const { atOnce, ofWallet, walletAtOnce } = this.#options;
    const { host, wallet, share } = asker;
    // Who has what is his keeps nobody else out.
    const isFull = this.#of(share) >= ofWallet.atOnce || this.#of(wallet) >= walletAtOnce;
    if (!isFull && this.#of(host) + this.#before(asker) >= atOnce) {
      this.#line.set(share, { host, askedAtMs: this.#options.now().getTime() });
      return 'busy';
    }
    this.#line.delete(share);
    if (isFull) return 'busy';
    // The share first: what it refuses costs the host nothing.
    return mayPost(this.#shares, share) && mayPost(this.#hosts, host) ? null : 'spent';
  }

  /** How many are in the line for its host before an asker. */
  #before({ host, share }: Asker): number {
    const since = this.#options.now().getTime() - PLACE_KEPT_MS;
    let before = 0;
    for (const [other, place] of this.#line) {
      if (other === share) break;
      if (place.askedAtMs < since) this.#line.delete(other);
      else if (place.host === host) before += 1;
    }
    return before;
  }

  #of(name: string): number {
    return this.#underWay.get(name) ?? 0;
  }

  #count({ host, wallet, share }: Asker, by: 1 | -1): void {
    for (const name of [host, wallet, share]) {
      const count = this.#of(name) + by;
      if (count === 0) this.#underWay.delete(name);
      else this.#underWay.set(name, count);
    }
  }
}

const mayPost = (budget: HostBudget | null, name: string) => budget === null || budget.take(name) === 'post';
