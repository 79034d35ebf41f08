import { setTimeout as delay } from 'node:timers/promises';

/** A queue whose members go on one by one. */
export interface Throttle {
  /** Waits for the caller's turn. @throws the reason of the signal when it aborts meanwhile */
  acquire(): Promise<void>;
  /** Nobody's turn comes within this time, theirs included who wait already. */
  pause(ms: number): void;
}

/** Lets callers go on in their order, at least `minIntervalMs` apart. */
export function createThrottle(minIntervalMs: number, signal: AbortSignal): Throttle {
  // A clock that nobody sets: after a correction of the time of day, turns would come hours late.
  const clock = () => performance.now();
  let freeAtMs = 0;
  let last = Promise.resolve();

  const next = async (): Promise<void> => {
    for (let waitMs = freeAtMs - clock(); waitMs > 0; waitMs = freeAtMs - clock()) {
      await delay(Math.ceil(waitMs), undefined, { signal });
    }
    freeAtMs = clock() + minIntervalMs;
  };

  return {
    async acquire() {
      const mine = last.then(next);
      last = mine.catch(() => {});
      await mine.catch((error: unknown) => {
        throw signal.aborted ? signal.reason : error;
      });
    },
    pause(ms) {
      freeAtMs = Math.max(freeAtMs, clock() + ms);
    },
  };
}
