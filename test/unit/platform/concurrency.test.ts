import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCache, Semaphore } from '../../../src/platform/concurrency.ts';

describe('createCache', () => {
  it('loads a key once, also for callers that come meanwhile', async () => {
    const cache = createCache<number>('test', 4);
    const load = vi.fn(async () => 5);
    expect(await Promise.all([cache.get('a', load), cache.get('a', load)])).toEqual([5, 5]);
    expect(load).toHaveBeenCalledTimes(1);
    expect(cache.statistics()).toEqual({ name: 'test', hits: 1, misses: 1, hitRate: 0.5, entries: 1 });
  });

  it('drops the entry unused for longest', async () => {
    const cache = createCache<string>('test', 2);
    for (const key of ['a', 'b', 'a', 'c']) await cache.get(key, async () => key);
    expect(await cache.get('a', async () => 'anew')).toBe('a');
    expect(await cache.get('b', async () => 'anew')).toBe('anew');
    expect(cache.statistics().entries).toBe(2);
  });

  it('does not remember a failure', async () => {
    const cache = createCache<number>('test', 2);
    await expect(cache.get('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await cache.get('a', async () => 1)).toBe(1);
    expect(cache.statistics()).toMatchObject({ hits: 0, misses: 2, entries: 1 });
  });
});
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
