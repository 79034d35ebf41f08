import { Semaphore } from '../../../src/platform/concurrency.ts';

/** Every turn is taken, for ever. */
export function fullSemaphore(): Semaphore {
  const semaphore = new Semaphore({ maxConcurrent: 1, maxQueued: 0 });
  void semaphore.run(() => new Promise(() => {}));
  return semaphore;
}
