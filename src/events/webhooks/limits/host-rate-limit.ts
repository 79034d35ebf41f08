/** Posts that a host gets at most at once, and then in a minute, whoever registered it and how often, unless told otherwise. */
export const POSTS_PER_MINUTE = 60;

const MINUTE_MS = 60_000;
/** Hosts that are remembered; one that rested for a minute need not be. */
const MAX_HOSTS = 10_000;

interface HostState {
  left: number;
  at: number;
  /** When it was last said that something is dropped. */
  loggedAt: number | null;
}

/** `dropped` is to be told, `dropped silently` was told within the last minute. */
type PostDecision = 'post' | 'dropped' | 'dropped silently';

/** What keeps callbacks from being turned on somebody who did not ask for them. */
export class HostRateLimit {
  readonly #hosts = new Map<string, HostState>();
  readonly #now: () => Date;
  readonly #perMinute: number;

  constructor(now: () => Date, perMinute = POSTS_PER_MINUTE) {
    this.#now = now;
    this.#perMinute = perMinute;
  }

  /** Counts a post, and says whether it may be sent. @param name without its port */
  take(name: string): PostDecision {
    const at = this.#now().getTime();
    const before = this.#hosts.get(name) ?? { left: this.#perMinute, at, loggedAt: null };
    const left = Math.min(this.#perMinute, before.left + (Math.max(0, at - before.at) * this.#perMinute) / MINUTE_MS);
    if (left >= 1) {
      this.#store(name, { ...before, left: left - 1, at });
      return 'post';
    }
    const wasLogged = before.loggedAt !== null && at - before.loggedAt < MINUTE_MS;
    this.#store(name, { left, at, loggedAt: wasLogged ? before.loggedAt : at });
    return wasLogged ? 'dropped silently' : 'dropped';
  }

  /** At the end, so that whoever rested longest is forgotten first. */
  #store(name: string, host: HostState): void {
    this.#hosts.delete(name);
    const [oldest] = this.#hosts.size >= MAX_HOSTS ? this.#hosts.keys() : [];
    if (oldest !== undefined) this.#hosts.delete(oldest);
    this.#hosts.set(name, host);
  }
}
