import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Semaphore } from '../../../src/platform/concurrency.ts';

describe('semaphore', () => {
  const refused = { code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) };

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Work that ends on request. */
  function work() {
    const held = Promise.withResolvers<string>();
    const begun = vi.fn(() => held.promise);
    return { begun, end: () => held.resolve('done') };
  }

  describe('Semaphore', () => {
    it('runs up to maxConcurrent, then in order of arrival, and rejects beyond maxQueued', async () => {
      const semaphore = new Semaphore({ maxConcurrent: 1, maxQueued: 1 });
      const [first, second, third] = [work(), work(), work()];
      const running = [semaphore.run(first.begun), semaphore.run(second.begun)];
      await expect(semaphore.run(third.begun)).rejects.toMatchObject(refused);
      expect([first, second, third].map(({ begun }) => begun.mock.calls.length)).toEqual([1, 0, 0]);
      await vi.advanceTimersByTimeAsync(3_600_000);
      first.end();
      second.end();
      expect(await Promise.all(running)).toEqual(['done', 'done']);
      expect(semaphore.isIdle).toBe(true);
    });

    it('rejects after maxWaitMs without running the work', async () => {
      const semaphore = new Semaphore({ maxConcurrent: 1, maxQueued: 1, maxWaitMs: 1_000 });
      const [slow, gone, next] = [work(), work(), work()];
      const running = semaphore.run(slow.begun);
      const given = expect(semaphore.run(gone.begun)).rejects.toMatchObject(refused);
      await vi.advanceTimersByTimeAsync(999);
      await expect(semaphore.run(next.begun)).rejects.toMatchObject(refused);
      await vi.advanceTimersByTimeAsync(1);
      await given;
      const after = semaphore.run(next.begun);
      slow.end();
      next.end();
      expect(await Promise.all([running, after])).toEqual(['done', 'done']);
      expect(gone.begun).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(semaphore.isIdle).toBe(true);
    });

    it('is idle after running work has failed, and not before', async () => {
      const semaphore = new Semaphore({ maxConcurrent: 1, maxQueued: 1 });
      const failing = semaphore.run(() => Promise.reject(new Error('broken')));
      expect(semaphore.isIdle).toBe(false);
      await expect(failing).rejects.toThrow('broken');
      expect(semaphore.isIdle).toBe(true);
    });
  });
});
