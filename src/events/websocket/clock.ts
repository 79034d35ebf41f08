export interface Clock {
  now(): Date;
  /** Runs `work` after `ms`; returns its cancellation. */
  after(ms: number, work: () => void): () => void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

export function createSystemClock(now: () => Date): Clock {
  return {
    now,
    after(ms, work) {
      const timer = setTimeout(work, Math.min(Math.max(ms, 0), MAX_TIMER_MS)).unref();
      return () => clearTimeout(timer);
    },
  };
}
