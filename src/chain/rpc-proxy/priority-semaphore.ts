/** There is no turn for one more. */
export class QueueFullError extends Error {}

/**
 * Runs work, in its turn.
 * @param isReserved whether it goes before all work that is not
 * @throws TooManyWait at once, and the signal's reason when it is aborted before its turn
 */
export type RunQueued = <T>(work: () => Promise<T>, signal: AbortSignal, isReserved?: boolean) => Promise<T>;

/** Lets `atOnce` works run beside one another, and `waiting` more of them wait, in the order in which they came. */
export function createPrioritySemaphore({ atOnce, waiting: maxWaiting }: { atOnce: number; waiting: number }): RunQueued {
  let running = 0;
  const [reserved, others]: (() => void)[][] = [[], []];

  async function wait(signal: AbortSignal, waiting: (() => void)[]): Promise<void> {
    if (reserved.length + others.length >= maxWaiting) throw new QueueFullError('too many wait');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => {
      waiting.splice(waiting.indexOf(start), 1);
      reject(signal.reason);
    };
    const start = () => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    signal.addEventListener('abort', abort, { once: true });
    waiting.push(start);
    await promise;
  }

  return async (work, signal, isReserved = false) => {
    signal.throwIfAborted();
    if (running < atOnce) running++;
    else await wait(signal, isReserved ? reserved : others);
    try {
      return await work();
    } finally {
      // Whoever is next takes over the place: nobody who comes in between does.
      const next = reserved.shift() ?? others.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
