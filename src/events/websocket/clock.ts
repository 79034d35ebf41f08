/** Time as connections know it: what tests stand in for. */
export interface Clock {
  now(): Date;
  /** Does something once, after so many milliseconds, unless it is cancelled by what this returns. */
  after(ms: number, work: () => void): () => void;
}

/** The longest that a timer of the platform takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Timers of the platform, which keep no process alive. */
export function createSystemClock(now: () => Date): Clock {
  return {
    now,
    after(ms, work) {
      const timer = setTimeout(work, Math.min(Math.max(ms, 0), MAX_TIMER_MS)).unref();
      return () => clearTimeout(timer);
    },
  };
}
