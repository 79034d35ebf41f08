import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';

export type Throttle = ReturnType<typeof createThrottle>;

/** Grants slots in FIFO order, at least `minIntervalMs` apart. */
export function createThrottle(minIntervalMs: number, signal: AbortSignal) {
  const queue = new PQueue({ concurrency: 1 });
  // Monotonic: after a correction of the system clock, slots would come hours late.
  const clock = () => performance.now();
  let freeAtMs = 0;

  const takeSlot = async (): Promise<void> => {
    for (let waitMs = freeAtMs - clock(); waitMs > 0; waitMs = freeAtMs - clock()) {
      await delay(Math.ceil(waitMs), undefined, { signal });
    }
    freeAtMs = clock() + minIntervalMs;
  };

  return {
    /** Waits in order for a slot. @throws the reason of the signal when it aborts */
    acquire: (): Promise<void> =>
      queue.add(takeSlot).catch((error: unknown) => {
        throw signal.aborted ? signal.reason : error;
      }),
    /** Delays all slots, those of queued callers included, by at least this duration. */
    pause(ms: number): void {
      freeAtMs = Math.max(freeAtMs, clock() + ms);
    },
  };
}
