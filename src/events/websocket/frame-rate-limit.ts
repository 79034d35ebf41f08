const WINDOW_MS = 60_000;

export const MAX_FRAMES_PER_MINUTE = { all: 60, invalid: 10 } as const;

/** A fixed-window limit: each frame may cause a reply, and each message a database query. */
export class FrameRateLimit {
  readonly #now: () => Date;
  #windowEndsMs = 0;
  #taken = { all: 0, invalid: 0 };

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Counts a frame; returns whether it is within the limit. */
  take(kind: keyof typeof MAX_FRAMES_PER_MINUTE): boolean {
    const nowMs = this.#now().getTime();
    const leftMs = this.#windowEndsMs - nowMs;
    // More than a window is left after the clock has been set back.
    if (leftMs <= 0 || leftMs > WINDOW_MS) {
      this.#windowEndsMs = nowMs + WINDOW_MS;
      this.#taken = { all: 0, invalid: 0 };
    }
    this.#taken[kind] += 1;
    return this.#taken[kind] <= MAX_FRAMES_PER_MINUTE[kind];
  }
}
