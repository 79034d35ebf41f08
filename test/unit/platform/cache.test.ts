import { describe, expect, it, vi } from 'vitest';
import { createCache } from '../../../src/platform/concurrency.ts';

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
