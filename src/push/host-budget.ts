/** Posts that a host gets at most at once, and then in a minute, whoever registered it and how often, unless told otherwise. */
export const POSTS_A_MINUTE = 60;

const MINUTE_MS = 60_000;
/** Hosts that are remembered; one that rested for a minute need not be. */
const MOST_HOSTS = 10_000;

interface Host {
  left: number;
  at: number;
  /** When it was last said that something is dropped. */
  toldAt: number | null;
}

/** `dropped` is to be told, `dropped silently` was told within the last minute. */
type Verdict = 'post' | 'dropped' | 'dropped silently';

/** What keeps callbacks from being turned on somebody who did not ask for them. */
export class HostBudget {
  readonly #hosts = new Map<string, Host>();
  readonly #now: () => Date;
  readonly #aMinute: number;

  constructor(now: () => Date, aMinute = POSTS_A_MINUTE) {
    this.#now = now;
    this.#aMinute = aMinute;
  }

  /** Counts a post, and says whether it may be sent. @param name without its port */
  take(name: string): Verdict {
    const at = this.#now().getTime();
    const before = this.#hosts.get(name) ?? { left: this.#aMinute, at, toldAt: null };
    const left = Math.min(this.#aMinute, before.left + (Math.max(0, at - before.at) * this.#aMinute) / MINUTE_MS);
    if (left >= 1) {
      this.#note(name, { ...before, left: left - 1, at });
      return 'post';
    }
    const wasTold = before.toldAt !== null && at - before.toldAt < MINUTE_MS;
    this.#note(name, { left, at, toldAt: wasTold ? before.toldAt : at });
    return wasTold ? 'dropped silently' : 'dropped';
  }

  /** At the end, so that whoever rested longest is forgotten first. */
  #note(name: string, host: Host): void {
    this.#hosts.delete(name);
    const [oldest] = this.#hosts.size >= MOST_HOSTS ? this.#hosts.keys() : [];
    if (oldest !== undefined) this.#hosts.delete(oldest);
    this.#hosts.set(name, host);
  }
}
