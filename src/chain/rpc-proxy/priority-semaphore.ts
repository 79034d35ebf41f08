import PQueue from 'p-queue';

export class QueueFullError extends Error {}

/** @param isReserved whether it precedes work that is not @throws QueueFullError immediately; the signal's reason when it aborts */
export type RunQueued = <T>(work: () => Promise<T>, signal: AbortSignal, isReserved?: boolean) => Promise<T>;

/** Runs up to `atOnce` works concurrently and queues up to `waiting` more, first in, first out. */
export function createPrioritySemaphore({ atOnce, waiting }: { atOnce: number; waiting: number }): RunQueued {
  const queue = new PQueue({ concurrency: atOnce });
  return async (work, signal, isReserved = false) => {
    signal.throwIfAborted();
    if (queue.pending >= atOnce && queue.size >= waiting) throw new QueueFullError('too many wait');
    return queue.add(work, { signal, priority: isReserved ? 1 : 0 });
  };
}
