const WINDOW_MS = 60_000;

/** So many frames a minute a client may send, ping and pong frames included, and so many messages that are not valid. */
export const MAX_FRAMES_PER_MINUTE = { all: 60, invalid: 10 } as const;

/** Counts what a client sends: each frame may make an answer, and each message may make us ask the database. */
export class FrameRateLimit {
  readonly #now: () => Date;
  #windowEndsMs = 0;
  #taken = { all: 0, invalid: 0 };

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Counts one, and tells whether it is still within what is allowed. */
  take(kind: keyof typeof MAX_FRAMES_PER_MINUTE): boolean {
    const nowMs = this.#now().getTime();
    if (nowMs >= this.#windowEndsMs) {
      this.#windowEndsMs = nowMs + WINDOW_MS;
      this.#taken = { all: 0, invalid: 0 };
    }
    this.#taken[kind] += 1;
    return this.#taken[kind] <= MAX_FRAMES_PER_MINUTE[kind];
  }
}
